import { expect, test } from 'vitest';
import { WireWatch } from './wire-watch.js';

const anthropic = [
  'event: message_start\ndata: {"type":"message_start","message":{"usage":{"input_tokens":9,"output_tokens":1}}}\n\n',
  'data: {"type":"content_block_delta","delta":{"text":"the \\"usage\\" of words é"}}\n\n',
  'data: {"type":"message_delta","usage":{"output_tokens":15}}\n\n',
  'data: {"type":"message_delta","usage":{"output_tokens":40}}\n\n',
].join('');

/** The watch after these bytes, in pieces of this size. */
function watched(text: string, size: number): WireWatch {
  const watch = new WireWatch();
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) watch.take(bytes.subarray(at, at + size));
  return watch;
}

test('case L15: the first and the last report of usage are kept, however the bytes are split', () => {
  const first = { type: 'message_start', message: { usage: { input_tokens: 9, output_tokens: 1 } } };
  for (let size = 1; size <= anthropic.length; size += 1) {
    const reports = watched(anthropic, size).usageReports();
    expect(reports).toEqual([first, { type: 'message_delta', usage: { output_tokens: 40 } }]);
  }
});

test('empty reports and words about usage tell nothing', () => {
  const text =
    'data: {"usage":null}\n\ndata: {"usage": null,"x":1}\n\ndata: {"usage":{}}\n\ndata: {"usageMetadata":null}\n\n';
  expect(watched(text, 7).usageReports()).toEqual([]);
  expect(watched('data: half a line with "usage"', 5).usageReports()).toEqual([]);
  expect(watched('data: broken "usage":{"input_tokens":\n\n', 5).usageReports()).toEqual([]);
});

test('the done marker is seen at the end only, however the bytes are split', () => {
  const done = `${anthropic}data: [DONE]\n\n`;
  for (let size = 1; size <= 40; size += 1) expect(watched(done, size).sawDone).toBe(true);
  expect(watched(`data: {"text":"data: [DONE]"}\n\n${anthropic}`, 9).sawDone).toBe(false);
  expect(watched(anthropic, 9).sawDone).toBe(false);
});

test('a line that is longer than any report is let go, and reports after it are seen', () => {
  const long = `data: {"text":"${'x'.repeat(600_000)}","usage":{"input_tokens":1}}\n\n`;
  const after = 'data: {"usage":{"input_tokens":2}}\n\n';
  expect(watched(long + after, 65_536).usageReports()).toEqual([{ usage: { input_tokens: 2 } }]);
});
