import { callsWithResults, firstUserText, offers, turnsTaken } from '../messages.js';
import type { Answer, ScenarioRequest } from '../scenario.js';
import { countInputTokens } from '../tokens.js';
import { type ActionPrompt, parseActionPrompt } from './action-prompt.js';
import { answerAction } from './answer-action.js';
import { deliverAction } from './deliver-action.js';
import { inspectAction } from './inspect-action.js';
import { submitStuck } from './outcome.js';
import { repairAction } from './repair-action.js';
import { deeds } from './tool-results.js';

/** Plays the model that executes an Action. */
export function act(request: ScenarioRequest): Answer {
  const prompt = parseActionPrompt(firstUserText(request));
  const answer = afterSubmission(request, prompt) ?? question(request, prompt) ?? work(request, prompt);
  return isGreedy(request, prompt) ? { ...answer, usage: { outputTokens: greedyTokens(request) } } : answer;
}

/** By what the Action may do, not by its name: other plans than ours are executed too. */
function work(request: ScenarioRequest, prompt: ActionPrompt): Answer {
  if (offers(request, 'edit_file') && offers(request, 'shell')) return repairAction(request, prompt);
  if (!offers(request, 'read_file')) return answerAction(prompt);
  return prompt.kind === 'work' ? inspectAction(request, prompt) : deliverAction(request, prompt);
}

/** After a refused submission it says so and gives up; it never submits the same thing for ever. */
function afterSubmission(request: ScenarioRequest, prompt: ActionPrompt): Answer | null {
  const submissions = deeds(request, 'submit_outcome');
  const last = submissions.at(-1);
  if (last === undefined) return null;
  if (submissions.length > 3) return { text: 'I have submitted my outcome and have nothing to add.' };
  const refused = last.trouble !== null && last.result !== null && last.result !== '';
  return refused ? submitStuck(prompt, `my outcome was refused: ${last.result}`) : null;
}

/** The variant `asks`: an Action that edits asks first, once. */
function question(request: ScenarioRequest, prompt: ActionPrompt): Answer | null {
  if (!request.variants.includes('asks') || !offers(request, 'ask_human') || !mayChange(prompt)) return null;
  const asked = callsWithResults(request, 'ask_human').length > 0 || prompt.hasInput || userMessages(request) > 1;
  if (asked) return null;
  const input = { question: 'I am about to change the smallest thing that reaches the goal. May I go on?' };
  return { reasoning: 'I ask before I change anything.', toolCalls: [{ name: 'ask_human', input }] };
}

/** The variant `greedy`: the first turn of an Action that changes something reports more than anybody could expect. */
function isGreedy(request: ScenarioRequest, prompt: ActionPrompt): boolean {
  return request.variants.includes('greedy') && mayChange(prompt) && turnsTaken(request) === 0;
}

/** More than the output limit and any sensible estimate of the input together. */
function greedyTokens({ maxOutputTokens, messages, tools }: ScenarioRequest): number {
  return (maxOutputTokens ?? 16_384) + 5 * countInputTokens(messages, tools) + 1_000;
}

function mayChange({ workspace }: ActionPrompt): boolean {
  return workspace === 'shared' || workspace === 'none';
}

function userMessages({ messages }: ScenarioRequest): number {
  return messages.filter((message) => message.role === 'user').length;
}
