"""Published test sets, one file each: read it, list what must be scored, judge the scores."""
