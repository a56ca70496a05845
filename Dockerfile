# `pronmetric serve` in a container, on the CPU:
#   docker build -t pronmetric .
#   docker run --rm -p 127.0.0.1:8000:8000 pronmetric            # then http://127.0.0.1:8000
#   docker run --rm -p 127.0.0.1:8000:8000 pronmetric --model base --precision bf16
# Nothing is downloaded when it runs. Flags of `serve` follow the name of the image.

FROM python:3.11-slim AS wheel
COPY . /source
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /wheel /source

FROM python:3.11-slim
COPY --from=wheel /wheel /wheel
COPY constraints.txt /wheel/
# The CPU wheels of PyTorch: without this index the image has gigabytes of CUDA libraries.
RUN pip install --no-cache-dir --extra-index-url https://download.pytorch.org/whl/cpu --constraint /wheel/constraints.txt \
        "$(ls /wheel/*.whl)[serve]" \
    && useradd --uid 1000 --create-home pronmetric
USER pronmetric
WORKDIR /home/pronmetric
EXPOSE 8000
HEALTHCHECK --start-period=60s CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/health')"]
ENTRYPOINT ["pronmetric", "serve", "--host", "0.0.0.0"]
