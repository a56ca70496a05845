"""Published test sets, one file each: readers, the texts to score, and the evaluation of scores."""
