/**
 * An Action that edits: looks, runs the tests, computes a change from the sources and the assertions it was shown,
 * edits, runs the tests again. A change that does not help is taken back before the next one is tried.
 */
import { findRepairs } from '../repair/find-repairs.js';
import { type Edit, makeEdit, revert } from '../repair/make-edit.js';
import type { Answer, AnsweredToolCall, ScenarioRequest } from '../scenario.js';
import type { ActionPrompt } from './action-prompt.js';
import { explore, isTestPath } from './explore.js';
import { submitCompleted, submitStuck } from './outcome.js';
import { argument, type Deed, deeds, readTestRun, testCommand } from './tool-results.js';

const mostTries = 8;

export function repairAction(request: ScenarioRequest, prompt: ActionPrompt): Answer {
  const seen = explore(request, filesFromDependencies(prompt));
  if (seen.state === 'looking') return call(seen.thought, ...seen.calls);
  if (seen.state === 'stuck') return submitStuck(prompt, seen.reason);
  const work: Work = { prompt, seen, deeds: deeds(request, 'edit_file', 'shell', 'read_file') };
  const last = work.deeds.findLast((deed) => deed.name !== 'read_file' || followsEdit(work.deeds, deed));
  if (last === undefined) return call('I run the tests to see what fails.', runTheTests);
  if (last.name === 'edit_file') return afterEdit(work, last);
  return last.name === 'read_file'
    ? call('I run the tests on the file as it is.', runTheTests)
    : afterTestRun(work, last);
}

interface Work {
  readonly prompt: ActionPrompt;
  readonly seen: { readonly sources: ReadonlyMap<string, string>; readonly tests: ReadonlyMap<string, string> };
  readonly deeds: readonly Deed[];
}

const runTheTests: AnsweredToolCall = { name: 'shell', input: { command: testCommand } };

/** The files that other Actions named, if there are sources and tests among them; else the workspace is explored. */
function filesFromDependencies({ dependencies }: ActionPrompt): readonly string[] {
  const values = dependencies.flatMap(({ evidence }) => evidence.filter(({ kind }) => kind === 'file'));
  const paths = [...new Set(values.map(({ value }) => value))];
  return paths.some(isTestPath) && !paths.every(isTestPath) ? paths : [];
}

function followsEdit(all: readonly Deed[], read: Deed): boolean {
  return all.slice(0, all.indexOf(read)).some((deed) => deed.name === 'edit_file');
}

function afterEdit({ deeds: all }: Work, edit: Deed): Answer {
  const batch = all.slice(all.findLastIndex((deed) => deed.name !== 'edit_file') + 1);
  const doubtful = batch.find((deed) => !took(deed));
  if (doubtful === undefined) return call('The edit is in place; I run the tests.', runTheTests);
  const repeats = all.filter((deed) => deed.name === 'edit_file' && sameEdit(editOf(deed), editOf(doubtful))).length;
  if (provablyUndone.test(doubtful.result ?? '') && repeats < 3) {
    return call('The edit was interrupted before it changed anything; I make it again.', editCall(editOf(doubtful)));
  }
  const path = argument(doubtful, 'path') || argument(edit, 'path');
  return call(`I am not sure of the edit of ${path}, so I read the file again.`, {
    name: 'read_file',
    input: { path },
  });
}

function afterTestRun(work: Work, run: Deed): Answer {
  const { prompt } = work;
  const result = readTestRun(run.result);
  if (!result.ended) return afterBrokenRun(work, run);
  const standing = standingEdit(work);
  if (result.passed) return standing === null ? nothingToDo(work, result.told) : repaired(work, standing, result.told);
  if (work.seen.sources.size === 0 || work.seen.tests.size === 0) {
    return submitStuck(prompt, `${result.told}, and I found no source and test files to repair.`);
  }
  const hearsay = standing === null ? undefined : unseenEdit(work, standing);
  if (hearsay === undefined) return nextTry(work, standing, result.told);
  return call(`${result.told}, although I was told that my edit is in place; I read the file again.`, hearsay);
}

/** Asks for the file again, if all that is known of an edit is what the loop said after an interruption. */
function unseenEdit({ deeds: all }: Work, edit: Edit): AnsweredToolCall | undefined {
  const last = all.findLastIndex((deed) => deed.name === 'edit_file' && sameEdit(editOf(deed), edit));
  const later = all.slice(last).some((deed) => deed.name === 'read_file' && argument(deed, 'path') === edit.path);
  const seen = later || !/^interrupted/i.test(all[last]?.result ?? '');
  return seen ? undefined : { name: 'read_file', input: { path: edit.path } };
}

/** A command whose end was not seen is run again: running the tests changes nothing. */
function afterBrokenRun({ prompt, deeds: all }: Work, run: Deed): Answer {
  const broken = all.filter((deed) => deed.name === 'shell' && !readTestRun(deed.result).ended);
  if (broken.length < 3) return call('I did not see how the tests ended; I run them again.', runTheTests);
  return submitStuck(prompt, `${testCommand} cannot be run: ${run.trouble ?? run.result}`);
}

function nextTry(work: Work, standing: Edit | null, told: string): Answer {
  const { prompt } = work;
  const sources = standing === null ? currentSources(work) : withEdit(currentSources(work), revert(standing));
  const { repairs, evaluated, reason } = findRepairs({ sources, tests: work.seen.tests });
  const tried = triedEdits(work);
  const edits = repairs.map((mutation) => makeEdit(sources.get(mutation.path) ?? '', mutation));
  const untried = edits.filter((edit) => !tried.some((other) => sameEdit(edit, other)));
  const runs = work.deeds.filter((deed) => deed.name === 'shell').length;
  const next = runs > mostTries ? undefined : untried[0];
  const back = standing === null ? [] : [editCall(revert(standing))];
  if (next !== undefined) {
    const why = evaluated
      ? `With this change every assertion would hold.`
      : `I cannot evaluate this (${reason}), so I try it.`;
    return call(`${told}. ${why}`, ...back, editCall(next));
  }
  if (back.length > 0) return call('That did not help; I take it back.', ...back);
  return submitStuck(prompt, `${told}, and I found no change of one operator or constant that makes the tests pass.`);
}

/** Edits that were in the file, and those that failed to get there twice. One that provably changed nothing may be sent again. */
function triedEdits({ deeds: all }: Work): readonly Edit[] {
  const edits = all.filter((deed) => deed.name === 'edit_file');
  return edits
    .filter(
      (deed, index) =>
        stood(all, deed) || edits.slice(0, index).some((earlier) => sameEdit(editOf(earlier), editOf(deed))),
    )
    .map(editOf);
}

/** True if the edit took: by what the file says afterwards, or else by what the tool said. */
function stood(all: readonly Deed[], deed: Deed): boolean {
  const path = argument(deed, 'path');
  const next = all
    .slice(all.indexOf(deed) + 1)
    .find((other) => other.name !== 'shell' && argument(other, 'path') === path);
  const read = next?.name === 'read_file' ? next : undefined;
  if (read === undefined) return took(deed);
  const { oldText, newText } = editOf(deed);
  return read.result?.includes(newText) === true && !read.result.includes(oldText);
}

function repaired({ prompt }: Work, edit: Edit, told: string): Answer {
  const change = `${edit.path}: ${quoted(edit.oldText)} became ${quoted(edit.newText)}`;
  return submitCompleted(prompt, {
    reasoning: 'The tests pass with this one change; I hand it over.',
    summary: `Changed one line of ${edit.path}; ${told}.`,
    evidence: [
      { kind: 'file', value: edit.path },
      { kind: 'text', value: change },
      { kind: 'test', value: told },
    ],
    check: { status: 'passed', evidence: told },
    outputs: outputsOf(prompt, [edit.path], `${change}. ${told}.`),
  });
}

function nothingToDo({ prompt }: Work, told: string): Answer {
  return submitCompleted(prompt, {
    reasoning: 'Nothing fails, so nothing has to be changed.',
    summary: `Nothing had to be changed; ${told}.`,
    evidence: [{ kind: 'test', value: told }],
    check: { status: 'passed', evidence: told },
    outputs: prompt.kind === 'deliver' ? outputsOf(prompt, [], `Nothing had to be changed. ${told}.`) : [],
  });
}

/** Said in place of a file where files are to be delivered and none was changed. */
export const noFile = 'no file had to be changed';

/** Changed files are named as outputs always, so that the next Action knows them; the rest is for the Action that delivers. */
export function outputsOf(prompt: ActionPrompt, paths: readonly string[], told: string) {
  const files = paths.map((value) => ({ kind: 'workspace_files', value }));
  if (prompt.kind !== 'deliver') return files;
  if (prompt.deliveryTarget !== 'workspace_files') return [...files, { kind: 'response', value: told }];
  return files.length > 0 ? files : [{ kind: 'workspace_files', value: noFile }];
}

/** The last edit that took and was not taken back. */
function standingEdit({ deeds: all }: Work): Edit | null {
  let standing: Edit | null = null;
  for (const deed of all) {
    if (deed.name !== 'edit_file' || !stood(all, deed)) continue;
    const edit = editOf(deed);
    standing = standing !== null && sameEdit(edit, revert(standing)) ? null : edit;
  }
  return standing;
}

/** The sources as last read, with the edits that took since. */
function currentSources({ seen, deeds: all }: Work): ReadonlyMap<string, string> {
  let sources = seen.sources;
  for (const [index, deed] of all.entries()) {
    if (deed.name !== 'edit_file' || !took(deed)) continue;
    const edit = editOf(deed);
    const readSince = all
      .slice(index)
      .some((later) => later.name === 'read_file' && argument(later, 'path') === edit.path);
    if (!readSince) sources = withEdit(sources, edit);
  }
  return sources;
}

function withEdit(sources: ReadonlyMap<string, string>, edit: Edit): ReadonlyMap<string, string> {
  const source = sources.get(edit.path);
  if (source === undefined) return sources;
  return new Map(sources).set(
    edit.path,
    source.replace(edit.oldText, () => edit.newText),
  );
}

/** What the loop says of a call that is known to have had no effect. */
const provablyUndone = /^Interrupted before it changed anything/;

/** Only a plain success counts; anything else is looked at again. */
function took(deed: Deed): boolean {
  return (
    deed.trouble === null && /^(?:replaced|edited|applied|ok|interrupted, but it was done)\b/i.test(deed.result ?? '')
  );
}

function editOf(deed: { readonly input: unknown }): Edit {
  return { path: argument(deed, 'path'), oldText: argument(deed, 'oldText'), newText: argument(deed, 'newText') };
}

function sameEdit(one: Edit, other: Edit): boolean {
  return one.path === other.path && one.oldText === other.oldText && one.newText === other.newText;
}

function editCall(edit: Edit): AnsweredToolCall {
  return { name: 'edit_file', input: { ...edit } };
}

function quoted(text: string): string {
  return JSON.stringify(text.trim());
}

function call(reasoning: string, ...toolCalls: readonly AnsweredToolCall[]): Answer {
  return { reasoning, toolCalls };
}
