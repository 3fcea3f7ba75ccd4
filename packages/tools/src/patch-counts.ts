const HUNK = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@(.*)$/;

/**
 * Writes the right line counts into hunk headers: models count badly, and what a hunk holds is plain from its lines.
 * A hunk ends at the next header; a blank line at its end belongs to the text around it, one inside is an empty
 * context line whose space was lost.
 */
export function repairHunkCounts(text: string): string {
  const lines = text.split('\n');
  const result: string[] = [];
  for (let at = 0; at < lines.length; ) {
    const header = HUNK.exec(lines[at] ?? '');
    if (header === null) {
      result.push(lines[at] ?? '');
      at += 1;
      continue;
    }
    const end = endOfHunk(lines, at + 1);
    const body = lines.slice(at + 1, end).map((line) => (line === '' ? ' ' : line));
    result.push(headerFor(header, body), ...body);
    at = end;
  }
  return result.join('\n');
}

function endOfHunk(lines: readonly string[], from: number): number {
  let at = from;
  while (at < lines.length && isHunkLine(lines, at)) at += 1;
  while (at > from && lines[at - 1] === '') at -= 1;
  return at;
}

function isHunkLine(lines: readonly string[], at: number): boolean {
  const line = lines[at] ?? '';
  if (line.startsWith('--- ') && lines[at + 1]?.startsWith('+++ ')) return false;
  return line === '' || line === '\r' || /^[ +\-\\]/.test(line);
}

function headerFor([, oldStart, newStart, rest]: RegExpExecArray, body: readonly string[]): string {
  const context = body.filter((line) => line.startsWith(' ') || line === '\r').length;
  const removed = body.filter((line) => line.startsWith('-')).length;
  const added = body.filter((line) => line.startsWith('+')).length;
  return `@@ -${oldStart},${context + removed} +${newStart},${context + added} @@${rest ?? ''}`;
}
