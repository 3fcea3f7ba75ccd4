import { systemText } from '../messages.js';
import type { Answer, Scenario, ScenarioRequest } from '../scenario.js';
import { coordinate } from './coordinate.js';
import { coordinatorLine } from './coordinator-prompt.js';

/** The model behind `--model simulated`: plans, looks, does, checks, from nothing but what it is shown. */
export const defaultScenario: Scenario = (request) => withManner(request, answerAs(request));

function answerAs(request: ScenarioRequest): Answer {
  if (systemText(request).startsWith(coordinatorLine)) return coordinate(request);
  return { text: 'I am a simulated model. I plan and execute Stint work items; I do not hold conversations.' };
}

/** Variants that change how an answer is given, whatever it says. */
function withManner(request: ScenarioRequest, answer: Answer): Answer {
  if (!request.variants.includes('slow')) return answer;
  return { ...answer, firstPieceDelayMs: 150, pieceDelayMs: 90, pieceCharacters: 24 };
}
