
// ---- texts: their lines, the records made of them, and the address that holds them

const FIELDS = { source: "s", context: "c", first: "a", second: "b" };
const LONGEST_ADDRESS = 8000;
const SOURCES_BEFORE = 5;

// The lines of a text, without empty ones at its end.
function lines(text) {
  const found = text.replace(/\r\n?/g, "\n").split("\n");
  while (found.length && !found.at(-1).trim()) found.pop();
  return found;
}

// Whether a line takes a place in a context: it has a letter that stands in no tag or entity.
function isSentence(line) {
  return /\p{Alphabetic}/u.test(line.replace(/<[^<>]*>|&#?\w+;/g, ""));
}

// A record for each line of a translation, in the last `size` of the sentences before it and the lines above it.
function records(own, context, sources, size) {
  const first = lines(context).join(" ").trim();
  return own.map((text, at) => {
    const before = [...(first ? [first] : []), ...own.slice(0, at).filter(isSentence)];
    const record = { id: at + 1, text, context: size ? before.slice(-size) : [] };
    if (sources) Object.assign(record, { source: sources[at], source_context: sources.slice(0, at).filter(isSentence).slice(-SOURCES_BEFORE) });
    return record;
  });
}

// A text with code points [start, end) replaced; the server counts code points, JavaScript does not.
function replaced(text, start, end, form) {
  const points = Array.from(text);
  return [...points.slice(0, start), form, ...points.slice(end)].join("");
}

// The fields as the fragment of an address; "" if they are empty or too long for one.
function fragment(fields) {
  const held = new URLSearchParams(Object.entries(FIELDS).filter(([name]) => fields[name]).map(([name, key]) => [key, fields[name]]));
  const made = held.toString();
  return made && made.length <= LONGEST_ADDRESS ? `#${made}` : "";
}

// The fields that a fragment holds.
function fieldsOf(hash) {
  const held = new URLSearchParams(hash.slice(1));
  return Object.fromEntries(Object.entries(FIELDS).map(([name, key]) => [name, held.get(key) || ""]));
}
