import { type CallWithResult, callsWithResults } from '../messages.js';
import { parsedOrNull, record } from '../protocol.js';
import type { ScenarioRequest } from '../scenario.js';

/** The sentences a tool or the loop says instead of a result. Matched at the start, where file contents rarely look so. */
const troubles = [
  /^\s*(?:error|tool error|not run|outcome unknown|cancelled|canceled|interrupted before|interrupted; the outcome|denied|refused|timed out|invalid|unknown tool)\b/i,
  /^(?:the )?(?:call|tool|path|file|command|input|outcome|arguments?)\b[^\n]{0,80}\b(?:not|unknown|refused|failed|denied|leads|missing|invalid)\b/i,
  /^"[^"\n]+" (?:does not|is not|is a|is no|cannot|could not|was not|leads|names|has)\b/i,
  /^(?:ENOENT|EACCES|EISDIR|ENOTDIR)\b/,
];

/** Why a tool result is no result: missing, empty, an error envelope or a sentence that says so. null if it is one. */
export function troubleOf(result: string | null): string | null {
  if (result === null) return 'there is no result';
  if (result.trim() === '') return 'the result is empty';
  const { error } = record(result.trimStart().startsWith('{') ? parsedOrNull(result) : null);
  if (typeof error === 'string' && error !== '') return error;
  return troubles.some((trouble) => trouble.test(result)) ? (result.split('\n')[0] ?? result) : null;
}

/** A command that ran the tests, as its output tells it. */
export interface TestRun {
  /** False when the command did not come to its end. */
  readonly ended: boolean;
  readonly passed: boolean;
  /** One line, e.g. `node --test: 3 passed, 0 failed`. */
  readonly told: string;
}

export const testCommand = 'node --test';

/** Reads the output of `node --test` behind the shell's line about its exit code. */
export function readTestRun(result: string | null): TestRun {
  const exit = /exit(?:ed)?(?: with)?(?: code)?[: ]+(-?\d+)/i.exec(result ?? '')?.[1];
  const count = (word: string) =>
    /\d+/.exec(new RegExp(`^(?:#|ℹ) ${word} \\d+`, 'm').exec(result ?? '')?.[0] ?? '')?.[0];
  const [passes, fails] = [count('pass'), count('fail')];
  const passed = fails === '0' && (exit === undefined || exit === '0');
  const ended = result !== null && (fails !== undefined || exit !== undefined);
  return { ended, passed, told: `${testCommand}: ${passes ?? 'unknown'} passed, ${fails ?? 'unknown'} failed` };
}

/** Something an Action did with a tool, in order. */
export type Deed = CallWithResult & { readonly trouble: string | null };

export function deeds(request: Pick<ScenarioRequest, 'messages'>, ...tools: readonly string[]): readonly Deed[] {
  const calls = callsWithResults(request).filter((call) => tools.length === 0 || tools.includes(call.name));
  return calls.map((call) => ({ ...call, trouble: troubleOf(call.result) }));
}

/** A string argument of a call. */
export function argument(call: { readonly input: unknown }, name: string): string {
  const value = record(call.input)[name];
  return typeof value === 'string' ? value : '';
}
