import { DTO_LIMITS, utf8Length } from '@stint/contracts';
import { createRedactor } from '@stint/projection';
import { describe, expect, it } from 'vitest';
import { followLive, type LiveAction, shownTail } from './live-texts.js';

const secret = 'ghp_A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8';
const redactor = createRedactor({ workspaceRoot: null, knownSecrets: [secret] });
const place = { itemId: 'i', actionId: 'i/a', runId: 'r' };

const write = (before: LiveAction | undefined, delta: string): LiveAction =>
  followLive(before, { ...place, event: { type: 'text-delta', delta } });

describe('live text', () => {
  it('shows no part of a secret, wherever the end of the window falls', () => {
    const filler = 'some words of the model, '.repeat(400);
    let live = write(undefined, `${filler}the key is ${secret} and `);
    for (let step = 0; step < DTO_LIMITS.maxLiveTextBytes + 200; step += 7) {
      live = write(live, 'word w ');
      const shown = shownTail(redactor.redact(live.text));
      expect(utf8Length(shown)).toBeLessThanOrEqual(DTO_LIMITS.maxLiveTextBytes);
      for (let at = 0; at + 8 <= secret.length; at += 1) expect(shown).not.toContain(secret.slice(at, at + 8));
    }
  });

  it('begins anew with each turn and says what runs', () => {
    const asked = followLive(write(undefined, 'old'), {
      ...place,
      event: { type: 'turn-start', turnNumber: 2, model: 'openai:m', inputIds: [], attempt: 1 },
    });
    expect(asked).toMatchObject({ text: '', activity: 'asking openai:m' });
  });
});
