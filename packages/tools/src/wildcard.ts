/** How a pattern is read. */
export interface WildcardOptions {
  /** A `*` right after a letter, digit or `_` stands for nothing or for further words, never for more of that word. */
  readonly byWords?: boolean;
}

/**
 * True if `text` matches `pattern`, in which `*` stands for any characters and everything else for itself. Takes at
 * most length x length steps, whatever the pattern.
 */
export function matchesWildcard(given: string, text: string, { byWords = false }: WildcardOptions = {}): boolean {
  const pattern = given.replace(/\*+/g, '*');
  let at = 0;
  let position = 0;
  let star = -1;
  let resume = 0;
  while (position < text.length) {
    if (pattern[at] === '*' && byWords && /\w/.test(pattern[at - 1] ?? '') && !/\s/.test(text[position] ?? '')) {
      at += 1; // inside a word: it stands for nothing
    } else if (pattern[at] === '*') {
      star = at;
      resume = position;
      at += 1;
    } else if (pattern[at] === text[position]) {
      at += 1;
      position += 1;
    } else if (star >= 0) {
      at = star + 1;
      resume += 1;
      position = resume;
    } else return false;
  }
  if (pattern[at] === '*') at += 1;
  return at === pattern.length;
}
