import { expect, it } from 'vitest';
import { createDialogue } from './dialogue.js';

it('a refused answer is shown with the reason, and one that said nothing by its reason alone', () => {
  for (const [text, roles] of [
    ['nonsense', ['system', 'user', 'assistant', 'user']],
    [' \n', ['system', 'user', 'user']],
  ] as const) {
    const dialogue = createDialogue('turn', 'the snapshot');
    dialogue.next();
    dialogue.refuse({ text, isStored: true }, 'it is no JSON');
    const { messages, fresh } = dialogue.next();
    expect(messages.map((message) => message.role)).toEqual(roles);
    expect(JSON.stringify(messages.at(-1))).toContain('it is no JSON');
    expect(fresh.map(({ message }) => message.role)).toEqual(['user']);
  }
});

it('half a character in what a person wrote is not sent: a provider would refuse it each time', () => {
  const { messages, fresh } = createDialogue('turn', 'cut in \uD83D the middle').next();
  expect(JSON.stringify([messages, fresh])).not.toContain('ud83d');
  expect(JSON.stringify(messages.at(-1))).toContain('cut in \uFFFD the middle');
});
