/** One Action as a plan decision states it. */
export interface ActionTemplate {
  readonly id: string;
  readonly kind: 'work' | 'review' | 'deliver';
  readonly objective: string;
  readonly approach: string;
  readonly expectedResult: string;
  readonly dependencies: readonly string[];
  readonly workspaceMode: 'read' | 'shared';
  readonly checkpoint: boolean;
}

const inspect: ActionTemplate = {
  id: 'inspect',
  kind: 'work',
  objective: 'Find out which source and test files the goal is about and what the tests expect.',
  approach: 'List the directories, read the sources and the tests, and compare what they say.',
  expectedResult: 'The relevant files by name, and what the tests assert of them.',
  dependencies: [],
  workspaceMode: 'read',
  checkpoint: false,
};

const inspectSources: ActionTemplate = {
  ...inspect,
  id: 'inspect-sources',
  objective: 'Read the source files and say what each of them does.',
  expectedResult: 'The source files by name.',
};

const inspectTests: ActionTemplate = {
  ...inspect,
  id: 'inspect-tests',
  objective: 'Read the test files and say what each of them asserts.',
  expectedResult: 'The test files by name.',
};

const repair: ActionTemplate = {
  id: 'repair',
  kind: 'work',
  objective: 'Make the failing test pass by the smallest change of the sources.',
  approach: 'Run node --test, compute the change from the assertion and the source, edit, run node --test again.',
  expectedResult: 'One edited source file, and node --test passes.',
  dependencies: [],
  workspaceMode: 'shared',
  checkpoint: false,
};

const deliver: ActionTemplate = {
  id: 'deliver',
  kind: 'deliver',
  objective: 'Verify every acceptance criterion and hand over the result.',
  approach: 'Read what was changed, compare it with the results of the other Actions, judge each criterion.',
  expectedResult: 'Every criterion judged with evidence, and the output that the delivery target asks for.',
  dependencies: [],
  workspaceMode: 'read',
  checkpoint: false,
};

const answer: ActionTemplate = {
  ...deliver,
  objective: 'Answer the goal and judge every acceptance criterion.',
  approach: 'Think the goal through, write the answer, and check it against each criterion.',
  expectedResult: 'One written answer that meets every criterion.',
};

/** The plan for an item: look, do, check with a work directory; without one, a single answer. */
export function planFor(item: { readonly hasWorkDir: boolean; readonly parallel: boolean }): readonly ActionTemplate[] {
  if (!item.hasWorkDir) return [answer];
  const looks = item.parallel ? [inspectSources, inspectTests] : [inspect];
  const lookIds = looks.map((look) => look.id);
  return [...looks, { ...repair, dependencies: lookIds }, { ...deliver, dependencies: [...lookIds, repair.id] }];
}

/** The template that an Action of this id was made from, with or without the number that made its id new. */
export function templateOf(
  action: { readonly id: string; readonly kind: string },
  hasWorkDir: boolean,
): ActionTemplate {
  const name = action.id.replace(/-\d+$/, '');
  const known = [inspect, inspectSources, inspectTests, repair].find((template) => template.id === name);
  if (known !== undefined) return known;
  if (action.kind === 'deliver') return hasWorkDir ? deliver : answer;
  return hasWorkDir ? repair : { ...inspect, objective: answer.objective };
}

/** An id that is not in use: the name itself, or with the lowest free number from 2 on. */
export function unusedId(name: string, used: ReadonlySet<string>): string {
  if (!used.has(name)) return name;
  for (let number = 2; ; number += 1) if (!used.has(`${name}-${number}`)) return `${name}-${number}`;
}

/** Gives every Action of a plan an unused id and moves the dependencies along. */
export function withUnusedIds(plan: readonly ActionTemplate[], used: ReadonlySet<string>): readonly ActionTemplate[] {
  const ids = new Map(plan.map((action) => [action.id, unusedId(action.id, used)]));
  return plan.map((action) => ({
    ...action,
    id: ids.get(action.id) ?? action.id,
    dependencies: action.dependencies.map((id) => ids.get(id) ?? id),
  }));
}
