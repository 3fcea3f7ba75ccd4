import { type Mutation, mutate } from './mutations.js';

/** Arguments of `edit_file`. */
export interface Edit {
  readonly path: string;
  readonly oldText: string;
  readonly newText: string;
}

/** The change as whole lines, with as many lines around it as make the old text stand in the file once. */
export function makeEdit(source: string, mutation: Mutation): Edit {
  const changed = mutate(source, mutation);
  const growth = changed.length - source.length;
  let start = source.lastIndexOf('\n', mutation.start - 1) + 1;
  let end = lineEnd(source, mutation.end);
  while (!standsOnce(source, source.slice(start, end)) && (start > 0 || end < source.length)) {
    if (start > 0) start = source.lastIndexOf('\n', start - 2) + 1;
    else end = lineEnd(source, end + 1);
  }
  return { path: mutation.path, oldText: source.slice(start, end), newText: changed.slice(start, end + growth) };
}

/** The edit that takes an edit back. */
export function revert({ path, oldText, newText }: Edit): Edit {
  return { path, oldText: newText, newText: oldText };
}

function standsOnce(source: string, text: string): boolean {
  return text !== '' && source.indexOf(text) === source.lastIndexOf(text);
}

function lineEnd(source: string, from: number): number {
  const end = source.indexOf('\n', from);
  if (end === -1) return source.length;
  return source[end - 1] === '\r' ? end - 1 : end;
}
