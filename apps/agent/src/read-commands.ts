import { openApplication } from './application.js';
import type { CommandContext } from './command-context.js';
import { exitCodes } from './exit-codes.js';
import { renderDetail, renderSummary } from './render-item.js';

/** `stint list`. */
export async function listCommand(context: CommandContext): Promise<number> {
  const { options, output } = context;
  await using application = await openApplication(context);
  for await (const item of application.reader.summaries()) {
    if (options.json) output.json(item);
    else output.line(renderSummary(item));
  }
  return exitCodes.done;
}

/** `stint show ID`. */
export async function showCommand(context: CommandContext, prefix = ''): Promise<number> {
  const { options, output } = context;
  await using application = await openApplication(context);
  const item = await application.reader.detail(await application.reader.itemId(prefix));
  if (options.json) output.json(item);
  else output.line(renderDetail(item));
  return exitCodes.done;
}
