import {
  MAX_TURN_DETAIL_BYTES,
  runDetailSchema,
  MAX_DTO_BYTES,
  turnDetailSchema,
  actionDetailSchema,
} from '@stint/contracts';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { toActionDetail } from './action.js';
import type { OperationRecord, ToolCallRecord, TurnRecord } from './records.js';
import { toRunDetail } from './run.js';
import { anyText, ITEM_ID, sampleAction, sampleRun } from './sources.test.helper.js';
import { toTurnDetail } from './turn-detail.js';

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));
const redaction = { workspaceRoot: '/home/ann/projects/app' };

function turn(over: Partial<TurnRecord> = {}): TurnRecord {
  return {
    id: 't1',
    owner: { kind: 'run', id: 'r1' },
    turnNumber: 1,
    status: 'responded',
    model: 'simulated:default',
    retryOf: null,
    response: { text: 'done', finishReason: 'stop', usage: null },
    usage: null,
    error: null,
    partialText: null,
    createdAt: 1,
    endedAt: 2,
    ...over,
  };
}

function call(index: number, over: Partial<ToolCallRecord> = {}): ToolCallRecord {
  return {
    toolCallId: `call-${index}`,
    callIndex: index,
    tool: 'shell',
    status: 'completed',
    input: { command: `echo ${index}` },
    result: `line ${index}`,
    ...over,
  };
}

test('case P01 of 2,000 calls the three that run stay, an output of 8 MB and an argument of 3 MB show their size', () => {
  const calls = Array.from({ length: 2_000 }, (_, index) =>
    call(index, index >= 1_997 ? { status: 'running', result: null } : {}),
  );
  calls[1_996] = call(1_996, { result: 'r'.repeat(8_000_000), input: { content: 'i'.repeat(3_000_000) } });
  const detail = toTurnDetail({ turn: turn(), toolCalls: calls }, redaction);
  expect(bytesOf(detail)).toBeLessThanOrEqual(MAX_TURN_DETAIL_BYTES);
  expect(detail.toolCalls.slice(-3).map(({ status }) => status)).toEqual(['running', 'running', 'running']);
  expect(detail.omittedToolCallCount).toBe(2_000 - detail.toolCalls.length);
  const large = detail.toolCalls.find(({ callIndex }) => callIndex === 1_996);
  expect(large).toMatchObject({ resultBytes: 8_000_000, inputBytes: 3_000_014, truncated: true });
});

test('case P01 whatever turns and calls hold, the detail keeps its bound and matches the contract', () => {
  const anyCall = fc.record({ text: anyText(40_000), isRunning: fc.boolean(), isText: fc.boolean() });
  fc.assert(
    fc.property(anyText(90_000), fc.array(anyCall, { maxLength: 60 }), (text, calls) => {
      const toolCalls = calls.map((one, index) =>
        call(index, {
          status: one.isRunning ? 'running' : 'failed',
          result: one.isRunning ? null : one.text,
          input: one.isText ? one.text : { nested: [one.text] },
          tool: one.text.slice(0, 300),
        }),
      );
      const detail = toTurnDetail(
        { turn: turn({ response: { text, finishReason: 'stop', usage: null } }), toolCalls },
        redaction,
      );
      expect(bytesOf(detail)).toBeLessThanOrEqual(MAX_TURN_DETAIL_BYTES);
      expect(turnDetailSchema.parse(detail)).toEqual(detail);
    }),
    { numRuns: 15 },
  );
});

test('case P11 what is cut is text inside valid JSON, and comes out the same each time', () => {
  const input = { list: Array.from({ length: 20_000 }, (_, index) => `"quoted" \\ ${index} 漢😀`) };
  const once = toTurnDetail({ turn: turn(), toolCalls: [call(0, { input })] }, redaction);
  const reloaded = JSON.parse(JSON.stringify(once)) as unknown;
  expect(reloaded).toEqual(once);
  expect(toTurnDetail({ turn: turn(), toolCalls: [call(0, { input })] }, redaction)).toEqual(once);
  expect(once.toolCalls[0]?.truncated).toBe(true);
});

test('a secret behind an escaped line break of an argument does not pass', () => {
  const secret = `x${Math.random().toString(36).slice(2)}9z8y7`;
  const input = { content: `first\npassword: ${secret}\n/home/bob/.ssh/id` };
  const detail = toTurnDetail({ turn: turn(), toolCalls: [call(0, { input })] }, redaction);
  expect(JSON.stringify(detail)).not.toContain(secret);
  expect(JSON.stringify(detail)).not.toContain('/home/bob');
  expect(detail.maskedSecretCount).toBe(2);
});

function operation(index: number, status: string): OperationRecord {
  return {
    id: `t${index}/0`,
    turnId: `t${index}`,
    owner: { kind: 'run', id: 'r1' },
    callIndex: 0,
    tool: 'write_file',
    status,
    lateResult: null,
    createdAt: index,
    endedAt: null,
  };
}

test('case P03 a Run of 31,000 turns opens bounded, what is open and the newest kept, the rest counted', () => {
  const turns = Array.from({ length: 31_000 }, (_, index) => turn({ id: `t${index}`, turnNumber: index }));
  turns[5] = turn({ id: 't5', turnNumber: 5, status: 'unknown', response: null });
  const operations = Array.from({ length: 500 }, (_, index) => operation(index, index === 3 ? 'unknown' : 'applied'));
  const detail = toRunDetail({ run: sampleRun('r1', 'look'), turns, operations }, redaction);
  expect(bytesOf(detail)).toBeLessThanOrEqual(MAX_DTO_BYTES);
  expect(runDetailSchema.parse(detail)).toEqual(detail);
  expect(detail.turns.map(({ id }) => id)).toContain('t5');
  expect(detail.turns.at(-1)?.id).toBe('t30999');
  expect(detail.turns.find(({ id }) => id === 't5')?.command).toBe('stint resolve t5 --retry');
  expect(detail.omittedTurnCount).toBe(31_000 - detail.turns.length);
  expect(detail.operations.map(({ id }) => id)).toContain('t3/0');
  expect(detail.truncated).toBe(true);
});

test('an Action shows its Runs newest first within its bound and counts the rest', () => {
  const message = 'm'.repeat(2_000);
  const turns = Array.from({ length: 150 }, (_, index) => turn({ id: `t${index}`, error: { code: 'x', message } }));
  const runs = Array.from({ length: 30 }, (_, index) => ({
    run: sampleRun(`r${index}`, 'look'),
    turns,
    operations: [],
  }));
  const sources = {
    itemId: ITEM_ID,
    action: sampleAction('look'),
    runs: runs.toReversed(),
    unreadRunCount: 4,
    question: null,
    pendingInputs: [],
  };
  const detail = toActionDetail(sources, redaction);
  expect(bytesOf(detail)).toBeLessThanOrEqual(MAX_DTO_BYTES);
  expect(actionDetailSchema.parse(detail)).toEqual(detail);
  expect(detail.runs[0]?.id).toBe('r29');
  expect(detail.omittedRunCount).toBe(34 - detail.runs.length);
});
