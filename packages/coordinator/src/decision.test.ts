import { describe, expect, it } from 'vitest';
import { parseDecision } from './decision.js';

describe('an answer of the Coordinator', () => {
  it('is read bare or inside one fence', () => {
    const text = '{"decision":"ask_human","question":"Which branch?"}';
    const expected = { ok: true, decision: { decision: 'ask_human', question: 'Which branch?' } };
    expect(parseDecision(text)).toEqual(expected);
    expect(parseDecision(`\`\`\`json\n${text}\n\`\`\``)).toEqual(expected);
  });

  it('fills in what a planned Action leaves out', () => {
    const action = { id: 'look', objective: 'Look at it', approach: 'Read files', expectedResult: 'A list' };
    const parsed = parseDecision(JSON.stringify({ decision: 'plan', mutations: [{ op: 'add', action }] }));
    expect(parsed).toMatchObject({
      ok: true,
      decision: {
        mutations: [{ action: { kind: 'work', workspaceMode: 'read', dependencies: [], checkpoint: false } }],
      },
    });
  });

  it.each([
    ['no JSON', 'I would plan two steps', 'not one JSON document'],
    ['an unknown decision', '{"decision":"explode"}', 'decision'],
    ['an unknown key', '{"decision":"ask_human","question":"q","sudo":true}', 'sudo'],
    ['a bad id', '{"decision":"plan","mutations":[{"op":"close","id":"../x","reason":"because"}]}', 'mutations.0.id'],
    [
      'an output with two values',
      '{"decision":"complete","summary":"s","criteria":[],"outputs":[{"kind":"response","text":"a","value":"b"}]}',
      'exactly one',
    ],
  ])('with %s is refused with a reason that names it', (_, text, part) => {
    const parsed = parseDecision(text);
    expect(parsed.ok ? 'accepted' : parsed.reason).toContain(part);
  });
});
