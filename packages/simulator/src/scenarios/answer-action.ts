import type { Answer } from '../scenario.js';
import type { ActionPrompt } from './action-prompt.js';
import { submitCompleted } from './outcome.js';

/** An Action without a workspace: it answers the goal in words. */
export function answerAction(prompt: ActionPrompt): Answer {
  const answer = writeAnswer(prompt);
  return submitCompleted(prompt, {
    reasoning: `The goal is "${firstLine(prompt.goal)}". I write an answer and hold it against each criterion.`,
    summary: `Answered: ${firstLine(prompt.goal)}`,
    evidence: [{ kind: 'text', value: answer }],
    check: { status: 'passed', evidence: 'The answer addresses it.' },
    outputs: prompt.kind === 'deliver' ? [{ kind: prompt.deliveryTarget ?? 'response', value: answer }] : [],
  });
}

function writeAnswer({ goal, criteria, dependencies }: ActionPrompt): string {
  const points = criteria.map(({ text }) => `- ${text}: addressed.`);
  const found = dependencies.map(({ summary }) => `- ${summary}`);
  const lines = [`This is a simulated answer to: ${firstLine(goal)}`, ...found, ...points];
  return `${lines.join('\n')}\nA simulated model writes no more than this; choose a real model for real work.`;
}

function firstLine(text: string): string {
  return (text.split('\n')[0] ?? '').slice(0, 200) || '(no goal)';
}
