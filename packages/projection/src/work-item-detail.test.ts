import { MAX_DTO_BYTES, workItemDetailSchema, workItemSummarySchema, type WorkItemDetail } from '@stint/contracts';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { noCounts } from './action.js';
import { fillDetail } from './detail-budget.js';
import { ActionFragment } from './fragments.js';
import type { OutcomeRecord, WorkItemSources } from './records.js';
import { createRedactor } from './redact.js';
import {
  anyText,
  ITEM_ID,
  sampleAction,
  sampleAccount,
  sampleItem,
  sampleMessage,
  sampleRun,
  sampleSources,
} from './sources.test.helper.js';
import { TextGate } from './texts.js';
import { toWorkItemDetail } from './work-item-detail.js';
import { toWorkItemSummary } from './work-item-summary.js';

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

function outcome(text: string): OutcomeRecord {
  return {
    summary: text,
    evidence: [{ kind: 'text', value: text }],
    checks: [{ criterionId: 'c1', status: 'passed', evidence: text }],
    outputs: [{ kind: 'response', value: text }],
    residualRisks: [text],
  };
}

function manyActions(count: number, text: string): WorkItemSources {
  const slugs = Array.from({ length: count }, (_, index) => `step-${index}`);
  return sampleSources({
    actions: slugs.map((slug, index) =>
      sampleAction(slug, {
        status: index === count - 1 ? 'running' : 'completed',
        objective: text,
        approach: text,
        expectedResult: text,
        outcome: outcome(text),
        outcomeRunId: `run-${slug}`,
        updatedAt: 1_700_000_000_000 + index,
      }),
    ),
    runs: slugs.map((slug) => sampleRun(`run-${slug}`, slug, { status: 'completed' })),
  });
}

/** Parses to itself: no unknown key, no open enum that fell back, no bound broken. */
function expectConforms(schema: { parse(value: unknown): unknown }, value: unknown): void {
  expect(schema.parse(value)).toEqual(value);
}

const anySources: fc.Arbitrary<WorkItemSources> = fc
  .record({
    text: anyText(20_000),
    long: anyText(60_000),
    actionCount: fc.integer({ min: 0, max: 80 }),
    messageCount: fc.integer({ min: 0, max: 100 }),
    criteriaCount: fc.integer({ min: 0, max: 24 }),
    isDone: fc.boolean(),
  })
  .map(({ text, long, actionCount, messageCount, criteriaCount, isDone }) => {
    const sources = manyActions(actionCount, text);
    const criteria = Array.from({ length: criteriaCount }, (_, index) => ({ id: `c${index + 1}`, text }));
    const finalResult = {
      summary: long,
      criteria: criteria.map((criterion) => ({ ...criterion, evidenceRunIds: ['run-step-0'] })),
      outputs: Array.from({ length: 30 }, () => ({ kind: 'response', value: long })),
      responses: Array.from({ length: 30 }, () => ({ runId: 'run-step-0', text: long })),
      residualRisks: Array.from({ length: 30 }, () => text),
    };
    return {
      ...sources,
      records: {
        ...sources.records,
        item: sampleItem({
          title: text,
          goal: long,
          acceptanceCriteria: criteria,
          status: isDone ? 'done' : 'running',
          finalResult: isDone ? finalResult : null,
        }),
        messages: Array.from({ length: messageCount }, (_, index) => sampleMessage(index + 1, long)),
        messageCount,
        openQuestions: Array.from({ length: 70 }, (_, index) => ({
          id: `q${index}`,
          actionId: null,
          runId: null,
          text: long,
          askedAt: 1,
        })),
      },
    };
  });

test('case P01 whatever the records hold, detail and summary keep their bound and match the contract', () => {
  fc.assert(
    fc.property(anySources, (sources) => {
      const detail = toWorkItemDetail(sources);
      expect(bytesOf(detail)).toBeLessThanOrEqual(MAX_DTO_BYTES);
      expectConforms(workItemDetailSchema, detail);
      const summary = toWorkItemSummary(sources);
      expect(bytesOf(summary)).toBeLessThanOrEqual(MAX_DTO_BYTES);
      expectConforms(workItemSummarySchema, summary);
    }),
    { numRuns: 25 },
  );
});

test('a small item is shown whole', () => {
  const detail = toWorkItemDetail(manyActions(3, 'short'));
  expect(detail.truncated).toBe(false);
  expect(detail.actions.map(({ brief, outcome: shown }) => [brief?.objective, shown?.summary])).toEqual([
    ['short', 'short'],
    ['short', 'short'],
    ['short', 'short'],
  ]);
});

test('case P03 a long conversation alone costs only its oldest messages', () => {
  const text = 'x'.repeat(15_000);
  const messages = Array.from({ length: 100 }, (_, index) => sampleMessage(index + 201, text));
  const sources = sampleSources({
    messages,
    messageCount: 300,
    actions: [sampleAction('look', { outcome: outcome('found') })],
  });
  const detail = toWorkItemDetail(sources);
  const { conversation } = detail;
  expect(conversation.messages.length).toBeGreaterThan(20);
  expect(conversation.messages.at(-1)?.seq).toBe(300);
  expect(conversation.omittedMessageCount).toBe(300 - conversation.messages.length);
  expect(conversation.before).toBe(conversation.messages[0]?.seq);
  expect(detail.contract.acceptanceCriteria).toHaveLength(2);
  expect(detail.goalProgress?.criteria).toHaveLength(2);
  expect(detail.actions[0]?.outcome?.summary).toBe('found');
  expect(detail.truncated).toBe(true);
});

test('bodies of finished Actions go before the body of the current one', () => {
  const detail = toWorkItemDetail(manyActions(64, 'y'.repeat(1_500)));
  const withBody = detail.actions.filter((action) => action.outcome !== null).map(({ slug }) => slug);
  expect(detail.omittedActionCount).toBe(0);
  expect(withBody).toContain('step-63');
  expect(withBody).not.toContain('step-0');
  expect(bytesOf(detail)).toBeLessThanOrEqual(MAX_DTO_BYTES);
});

test('the current Action is kept when others must go, and those are counted', () => {
  const detail = toWorkItemDetail(manyActions(200, 'z'.repeat(4_000)), { currentActionId: `${ITEM_ID}/step-5` });
  expect(detail.actions.map(({ slug }) => slug)).toContain('step-5');
  expect(detail.omittedActionCount).toBe(200 - detail.actions.length);
  expect(detail.omittedActionCount).toBeGreaterThan(0);
});

test('each budget from large to tiny leaves out one step more, down to the minimal item', () => {
  const sources = manyActions(20, 'w'.repeat(600));
  const base = toWorkItemDetail({ ...sources, records: { ...sources.records, actions: [] } });
  const gate = new TextGate(createRedactor({ workspaceRoot: null }));
  const { actions, runs } = sources.records;
  const fragments = actions.map((action, index) => {
    const parts = { action, latestRun: runs[index] ?? sampleRun('r', 'x'), counts: noCounts, question: null };
    return new ActionFragment('', { ...parts, maximumAttempts: null }, gate.fork());
  });
  const messages = [sampleMessage(1, 'hello'), sampleMessage(2, 'm'.repeat(9_000))];
  const parts = { fragments, messages, messageCount: 2, currentActionId: `${ITEM_ID}/step-3`, gate };
  const seen = new Set<string>();
  for (let maxBytes = 140_000; maxBytes > 5_000; maxBytes -= 150) {
    const detail = fillDetail(base, { ...parts, maxBytes });
    expect(bytesOf(detail), `budget ${maxBytes}`).toBeLessThanOrEqual(maxBytes);
    expect(detail.revisions).toEqual(base.revisions);
    expect(detail.contract.acceptanceCriteria.map(({ id }) => id)).toEqual(['c1', 'c2']);
    expect(detail.contract.goal).toBe(base.contract.goal);
    expect(detail.control).toEqual(base.control);
    seen.add(stepOf(detail));
  }
  expect([...seen]).toEqual([
    'all 20 with statistics',
    'all 20 with 2 messages',
    'all 20 with 1 message',
    'all 20 with outcomes',
    'all 20 with the current outcome',
    'all 20',
    'some',
    'the current one',
    'none',
  ]);
});

function stepOf({ actions, conversation }: WorkItemDetail): string {
  const outcomes = actions.filter((action) => action.outcome !== null);
  if (actions.length === 0) return 'none';
  if (actions.length === 1) return 'the current one';
  if (actions.length < 20) return 'some';
  if (actions.every(({ statistics }) => statistics !== null)) return 'all 20 with statistics';
  const count = conversation.messages.length;
  if (count > 0) return `all 20 with ${count} message${count > 1 ? 's' : ''}`;
  if (outcomes.length > 1) return 'all 20 with outcomes';
  return outcomes[0]?.slug === 'step-3' ? 'all 20 with the current outcome' : 'all 20';
}

test('case P13 with kept fragments the next detail is the same, and only what changed is made again', () => {
  const sources = manyActions(10, 'v'.repeat(500));
  const fragments = new Map<string, ActionFragment>();
  expect(toWorkItemDetail(sources, { fragments })).toEqual(toWorkItemDetail(sources));
  const kept = new Map(fragments);
  const actions = sources.records.actions.map((action, index) =>
    index === 4 ? { ...action, status: 'failed', updatedAt: action.updatedAt + 1 } : action,
  );
  const changed = { ...sources, records: { ...sources.records, actions } };
  expect(toWorkItemDetail(changed, { fragments })).toEqual(toWorkItemDetail(changed));
  const remade = [...fragments].filter(([id, fragment]) => kept.get(id) !== fragment).map(([id]) => id);
  expect(remade).toEqual([`${ITEM_ID}/step-4`]);
});

test('no secret and no path outside the workspace leaves in any text of an item', () => {
  const secret = `sk-${Math.random().toString(36).slice(2).padEnd(20, '7')}`;
  const text = `key ${secret} in /home/bob/notes.txt and /home/ann/projects/app/src/a.js`;
  const sources = manyActions(2, text);
  const item = sampleItem({ title: text, goal: text, acceptanceCriteria: [{ id: 'c1', text }] });
  const account = sampleAccount();
  const detail = toWorkItemDetail({
    ...sources,
    account,
    records: {
      ...sources.records,
      item,
      messages: [sampleMessage(1, text)],
      openQuestions: [{ id: 'q', actionId: null, runId: null, text, askedAt: 1 }],
    },
  });
  const json = JSON.stringify(detail);
  expect(json).not.toContain(secret);
  expect(json).not.toContain('/home/bob');
  expect(json.replaceAll(`"workDir":"${item.workDir}"`, '')).not.toContain('/home/ann');
  expect(json).toContain('src/a.js');
  expect(detail.maskedSecretCount).toBeGreaterThan(10);
});

test('an answered question is no longer asked, and an ended item asks nothing', () => {
  const question = { id: 'q1', actionId: `${ITEM_ID}/look`, runId: 'r1', text: 'Which one?', askedAt: 5 };
  const action = sampleAction('look', { status: 'waiting' });
  const asked = toWorkItemDetail(sampleSources({ actions: [action], openQuestions: [question] }));
  expect(asked.needs).toMatchObject([
    { kind: 'question', questionId: 'q1', command: `stint answer ${action.id} "your answer"` },
  ]);
  expect(asked.actions[0]?.question).toBe('Which one?');
  const answered = toWorkItemDetail(sampleSources({ actions: [{ ...action, status: 'ready' }] }));
  expect(answered.needs).toEqual([]);
  expect(answered.actions[0]?.question).toBeNull();
  const ended = sampleSources({ item: sampleItem({ status: 'cancelled' }), openQuestions: [question] });
  expect(toWorkItemDetail(ended).needs).toEqual([]);
});

test('what nobody knows is asked with the command that settles it, once', () => {
  const owner = { kind: 'run', id: 'run-look' };
  const attention = { code: 'unknown_turn', message: 'unknown', command: 'stint resolve t1 --retry', ref: 't1' };
  const sources = sampleSources({
    item: sampleItem({ status: 'needs_attention', attention }),
    actions: [sampleAction('look', { status: 'waiting', attention })],
    runs: [sampleRun('run-look', 'look')],
  });
  const detail = toWorkItemDetail({
    ...sources,
    unknownTurns: [
      {
        id: 't1',
        owner,
        turnNumber: 1,
        status: 'unknown',
        model: 'simulated:default',
        retryOf: null,
        response: null,
        usage: null,
        error: null,
        partialText: null,
        createdAt: 3,
        endedAt: null,
      },
    ],
  });
  expect(detail.needs).toMatchObject([
    { kind: 'unknown_turn', turnId: 't1', actionId: `${ITEM_ID}/look`, command: 'stint resolve t1 --retry' },
  ]);
  expect(detail.unknownTurns).toHaveLength(1);
});

test('the final result carries the evidence of each criterion', () => {
  const finalResult = {
    summary: 'done',
    criteria: [{ id: 'c1', text: 'node --test passes', evidenceRunIds: ['run-step-1'] }],
    outputs: [{ kind: 'response', value: 'it works' }],
    responses: [],
    residualRisks: [],
  };
  const sources = manyActions(2, 'node --test: 3 passed');
  const item = sampleItem({ status: 'done', finalResult, completedAt: 77 });
  const detail = toWorkItemDetail({ ...sources, records: { ...sources.records, item } });
  expect(detail.finalResult).toMatchObject({
    completedAt: 77,
    criteria: [{ id: 'c1', status: 'passed', evidence: 'node --test: 3 passed', evidenceRunIds: ['run-step-1'] }],
  });
});
