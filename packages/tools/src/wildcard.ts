/**
 * True if `text` matches `pattern`, in which `*` stands for any characters and everything else for itself. Takes at
 * most length x length steps, whatever the pattern.
 */
export function matchesWildcard(pattern: string, text: string): boolean {
  let at = 0;
  let position = 0;
  let star = -1;
  let resume = 0;
  while (position < text.length) {
    if (pattern[at] === '*') {
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
  while (pattern[at] === '*') at += 1;
  return at === pattern.length;
}
