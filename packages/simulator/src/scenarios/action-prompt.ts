import { list, parsedOrNull, record, text } from '../protocol.js';

/** The first line of every Action's system prompt. */
export const actionLine = 'You execute one Action of a Stint work item.';

/** What an Action is told. */
export interface ActionPrompt {
  readonly slug: string;
  readonly kind: string;
  readonly workspace: string;
  readonly objective: string;
  readonly goal: string;
  readonly criteria: readonly { readonly id: string; readonly text: string }[];
  /** null when the person has not chosen. */
  readonly deliveryTarget: string | null;
  readonly dependencies: readonly DependencyResult[];
  /** True if the prompt has sections of which this reader does not know what they are: what a person added. */
  readonly hasInput: boolean;
}

export interface DependencyResult {
  readonly slug: string;
  readonly summary: string;
  readonly evidence: readonly { readonly kind: string; readonly value: string }[];
  readonly checks: readonly { readonly criterionId: string; readonly status: string }[];
  readonly outputs: readonly { readonly kind: string; readonly value: string }[];
}

const knownSections = new Set([
  'Objective',
  'Approach',
  'Expected result',
  'Goal',
  'Acceptance criteria',
  'Delivery target',
  'Results of dependencies',
]);

/** Reads an Action's first user message. Sections are found by their headings; a goal may hold headings of its own. */
export function parseActionPrompt(source: string): ActionPrompt {
  const sections = sectionsOf(source);
  const target = (sections.get('Delivery target') ?? '').trim().split('\n')[0] ?? '';
  return {
    slug: /^# Action (\S+)/m.exec(source)?.[1] ?? '',
    kind: /^Kind: (\w+)/m.exec(source)?.[1] ?? '',
    workspace: /^Workspace: (\w+)/m.exec(source)?.[1] ?? '',
    objective: (sections.get('Objective') ?? '').trim(),
    goal: (sections.get('Goal') ?? '').trim(),
    criteria: criteriaOf(sections.get('Acceptance criteria') ?? ''),
    deliveryTarget: /^[a-z_]+$/.test(target) ? target : null,
    dependencies: dependenciesOf(sections.get('Results of dependencies') ?? ''),
    hasInput: [...sections.keys()].some(
      (heading) => /input|answer|guidance|message/i.test(heading) && !knownSections.has(heading),
    ),
  };
}

function sectionsOf(source: string): ReadonlyMap<string, string> {
  const sections = new Map<string, string>();
  const headings = [...source.matchAll(/^## (.+)$/gm)];
  for (const [index, heading] of headings.entries()) {
    const name = (heading[1] ?? '').trim();
    const body = source.slice(heading.index + heading[0].length, headings[index + 1]?.index);
    if (!sections.has(name)) sections.set(name, body);
  }
  return sections;
}

function criteriaOf(section: string): ActionPrompt['criteria'] {
  return [...section.matchAll(/^- \[([^\]]+)\] ?(.*)$/gm)].map(([, id = '', told = '']) => ({ id, text: told }));
}

function dependenciesOf(section: string): readonly DependencyResult[] {
  return section
    .split(/^### /m)
    .slice(1)
    .map((part) => {
      const end = part.indexOf('\n');
      return dependency(part.slice(0, end).trim(), record(parsedOrNull(part.slice(end).trim())));
    });
}

function dependency(slug: string, outcome: Readonly<Record<string, unknown>>): DependencyResult {
  const pairs = (value: unknown) =>
    list(value)
      .map(record)
      .map((item) => ({ kind: text(item['kind']), value: text(item['value']) }));
  return {
    slug,
    summary: text(outcome['summary']),
    evidence: pairs(outcome['evidence']),
    checks: list(outcome['checks'])
      .map(record)
      .map((check) => ({ criterionId: text(check['criterionId']), status: text(check['status']) })),
    outputs: pairs(outcome['outputs']),
  };
}
