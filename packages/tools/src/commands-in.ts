/** What stands before a command and runs it; its options are no further looked at. */
const RUNNERS = new Set(
  'command builtin exec eval time nohup nice env sudo doas xargs timeout setsid stdbuf coproc chroot ionice taskset sh bash dash zsh ksh busybox'.split(
    ' ',
  ),
);
const KEYWORDS = new Set('if then elif else do while until ! {'.split(' '));
const SEPARATORS = /[;&|<>`\n\r(){}]+|\$\(/;
/** `>out` may stand before a command. */
const AFTER_REDIRECTION = /[<>]&?\s*\S+\s+([^;&|<>]+)/g;
const ASSIGNMENT = /^\w+(?:\[.*\])?\+?=/;

/**
 * The commands that a line may run, for rules that ask or deny: the line and each of its parts as typed, and in a plain spelling (one space
 * between words, no quotes, no backslashes, no folder before the name, without what only runs another command). A shell has more ways to
 * write a command than anybody can list: this finds the usual ones.
 */
export function commandsIn(line: string): readonly string[] {
  const redirected = [...line.matchAll(AFTER_REDIRECTION)].map(([, rest = '']) => rest);
  const parts = [line, ...line.split(SEPARATORS), ...redirected].map((part) => part.trim());
  return [...new Set(parts.flatMap((part) => [part, ...plainSpellings(part)]))];
}

function plainSpellings(part: string): readonly string[] {
  const typed = part.split(/\s+/);
  const words = typed.map(unquoted);
  const spellings = [words.join(' ')];
  let mayBeNext = true;
  for (let at = 0; at < words.length && mayBeNext; at += 1) {
    const name = (words[at] ?? '').replace(/^.*\//, '');
    spellings.push([name, ...words.slice(at + 1)].join(' '));
    const isAssignment = ASSIGNMENT.test(words[at] ?? '');
    const isRun = RUNNERS.has(name) || (isAssignment && typed[at] !== words[at]); // a quoted value may go on in the next words
    if (isRun) spellings.push(...suffixes(words.slice(at + 1)));
    mayBeNext = !isRun && (KEYWORDS.has(name) || isAssignment);
  }
  return spellings;
}

/** A runner may have options of its own, with values: any of the words after it may be the command. */
function suffixes(words: readonly string[]): readonly string[] {
  return words.map((word, at) => [word.replace(/^.*\//, ''), ...words.slice(at + 1)].join(' '));
}

const unquoted = (word: string): string => word.replace(/["'\\]/g, '');
