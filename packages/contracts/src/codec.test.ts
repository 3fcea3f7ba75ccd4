import { expect, test } from 'vitest';
import {
  decodeAgentFrame,
  decodeBridgeToAgentFrame,
  decodeBridgeToBrowserFrame,
  decodeBrowserFrame,
  encodeFrame,
} from './codec.js';
import { MAX_BROWSER_FRAME_BYTES } from './limits.js';
import { sampleEvent } from './samples.test.helper.js';

const request = { type: 'request', id: 'r1', operation: 'get', input: { itemId: 'i' } } as const;

test('a frame comes back as it was sent', () => {
  const event = { type: 'event', event: sampleEvent() } as const;
  expect(decodeBrowserFrame(encodeFrame(request))).toEqual({ ok: true, frame: request });
  expect(decodeAgentFrame(encodeFrame(event))).toEqual({ ok: true, frame: event });
  expect(decodeBridgeToBrowserFrame(encodeFrame(event))).toEqual({ ok: true, frame: event });
});

test('a request that names its own user is refused and the refusal carries its id', () => {
  const forged = JSON.stringify({ ...request, user: { id: 'someone-else', name: 'x' } });
  const decoded = decodeBrowserFrame(forged);
  expect(decoded).toMatchObject({ ok: false, error: { code: 'invalid_frame', requestId: 'r1' } });
});

test('an agent refuses a request without the stamp of the bridge', () => {
  expect(decodeBridgeToAgentFrame(encodeFrame(request)).ok).toBe(false);
});

test('case P05 an extra field, an unknown enum value and an unknown event type reach the reader and move its cursor', () => {
  const event = { ...sampleEvent(), type: 'action.levitated', mood: 'fine' };
  const summary = { ...sampleEvent().summary, status: 'hibernating', colour: 'green' };
  const decoded = decodeBridgeToBrowserFrame(JSON.stringify({ type: 'event', event: { ...event, summary }, lane: 2 }));
  expect(decoded).toMatchObject({
    ok: true,
    frame: { event: { seq: event.seq, type: 'action.levitated', summary: { status: 'unrecognised' } } },
  });
  expect(JSON.stringify(decoded)).not.toMatch(/mood|colour|lane/);
});

test('case P05 a frame type of a newer peer is told apart from a broken frame', () => {
  const newer = decodeBridgeToBrowserFrame('{"type":"hologram","at":1}');
  const broken = decodeBridgeToBrowserFrame('{"type":"heartbeat","at":"noon"}');
  expect(newer).toMatchObject({ ok: false, error: { code: 'unknown_frame' } });
  expect(broken).toMatchObject({ ok: false, error: { code: 'invalid_frame' } });
});

test('a frame above its bound is refused before it is read, counted in bytes', () => {
  const input = 'é'.repeat(MAX_BROWSER_FRAME_BYTES / 2);
  const decoded = decodeBrowserFrame(JSON.stringify({ ...request, input }));
  expect(decoded).toMatchObject({ ok: false, error: { code: 'too_large' } });
});

test('what is not a JSON object is refused without repeating it', () => {
  for (const text of ['', 'sk-made-up-key', '[]', 'null', '"x"', '{"type":']) {
    const decoded = decodeBrowserFrame(text);
    expect(decoded.ok).toBe(false);
    expect(JSON.stringify(decoded)).not.toContain('sk-made-up-key');
  }
});

test('a failed response needs its error and a good one its result', () => {
  expect(decodeAgentFrame('{"type":"response","id":"r1","ok":false}').ok).toBe(false);
  expect(decodeAgentFrame('{"type":"response","id":"r1","ok":true,"result":{}}').ok).toBe(true);
});
