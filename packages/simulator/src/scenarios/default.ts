import { systemText } from '../messages.js';
import type { Answer, Scenario, ScenarioRequest } from '../scenario.js';
import { act } from './act.js';
import { actionLine } from './action-prompt.js';
import { coordinate } from './coordinate.js';
import { coordinatorLine } from './coordinator-prompt.js';

/** The model behind `--model simulated`: plans, looks, does, checks, from nothing but what it is shown. */
export const defaultScenario: Scenario = (request) => withManner(request, answerAs(request));

function answerAs(request: ScenarioRequest): Answer {
  const system = systemText(request);
  if (system.startsWith(coordinatorLine)) return coordinate(request);
  if (system.startsWith(actionLine)) return act(request);
  return { text: 'I am a simulated model. I plan and execute Stint work items; I do not hold conversations.' };
}

const slowPieces = 16;

/** The variant `slow`: the same answer, streamed over some two and a half seconds. */
function withManner(request: ScenarioRequest, answer: Answer): Answer {
  if (!request.variants.includes('slow')) return answer;
  const calls = JSON.stringify(answer.toolCalls ?? []).length;
  const characters = (answer.text?.length ?? 0) + (answer.reasoning?.length ?? 0) + calls;
  const pieceCharacters = Math.max(4, Math.ceil(characters / slowPieces));
  return { ...answer, firstPieceDelayMs: 300, pieceDelayMs: 150, pieceCharacters };
}
