import { defineTool, type Tool, ToolError } from '@stint/tools';
import type { RunControl } from '@stint/engine';
import { z } from 'zod';
import { boundedText } from './decision.js';
import { checkOutcome, type Outcome, type OutcomeDuty, outcomeSchema } from './outcome.js';

/** Where a Run's own tools leave what they were told. The last accepted outcome stands. */
export interface OutcomeCollector {
  outcome: Outcome | null;
  /** Ends the Run once the batch of calls is done. */
  readonly control: RunControl;
}

/** Names of the tools that every Run has beside those of its workspace. */
export const ownToolNames: ReadonlySet<string> = new Set(['submit_outcome', 'ask_human']);

function collect(collector: OutcomeCollector, outcome: Outcome): void {
  collector.outcome = outcome;
  collector.control.requestEndTurn();
}

/** Ends an Action. Its effect stays in the collector; a refused outcome goes back to the model with what to correct. */
export function submitOutcomeTool(collector: OutcomeCollector, duty: OutcomeDuty): Tool {
  return defineTool({
    name: 'submit_outcome',
    description: 'Hands over the result of this Action and ends it. Call it once, when nothing is left to do.',
    inputSchema: outcomeSchema,
    sideEffectScope: 'run',
    execute: (input) => {
      const checked = checkOutcome(input, duty);
      if (!checked.ok) throw refused(checked.reason);
      collect(collector, checked.outcome);
      return { accepted: true, status: checked.outcome.status };
    },
  });
}

/** Asks the person who owns the item; the Run ends as waiting and goes on with the answer. */
export function askHumanTool(collector: OutcomeCollector): Tool {
  return defineTool({
    name: 'ask_human',
    description: 'Asks the person one question that only they can answer, and ends this Run until they have.',
    inputSchema: z.strictObject({ question: boundedText(4_000).describe('The question, with what you found so far') }),
    sideEffectScope: 'run',
    execute: ({ question }) => {
      collect(collector, waitingOutcome(question));
      return { asked: true };
    },
  });
}

function waitingOutcome(question: string): Outcome {
  return {
    status: 'waiting',
    summary: 'A person is asked.',
    evidence: [],
    checks: [],
    outputs: [],
    question,
    residualRisks: [],
  };
}

function refused(reason: string): ToolError {
  return new ToolError(
    'invalid_input',
    `The outcome was not accepted: ${reason}. Correct it and call submit_outcome again.`,
    {
      errorEffect: 'none',
    },
  );
}
