import { Command, InvalidArgumentError, Option } from 'commander';
import type { CommandContext } from './command-context.js';
import { type Output, terminalOutput } from './output.js';
import type { Gate } from '@stint/storage';
import { reportFault } from './report-fault.js';
import { readVersion } from './version.js';

type Handler = (context: CommandContext, ...words: readonly string[]) => Promise<number>;

export interface CommandLineOptions {
  /** @default stdout and stderr */
  readonly output?: Output;
  /** @default none */
  readonly gate?: Gate;
  /** Carries out a command whose words were understood. @default loads its code and runs it */
  readonly carryOut?: (run: () => Promise<number>) => Promise<number>;
}

/**
 * Runs one command and answers with the exit code; never calls `process.exit`, so that what is open is closed. With `--json` an error is
 * one document on stdout too, `{ code, message, retryable, exitCode }`.
 * Code is loaded when a command needs it: `--help` and `--version` stay as quick as Node itself.
 */
export async function runCommandLine(words: readonly string[], options: CommandLineOptions = {}): Promise<number> {
  const { output = terminalOutput(), gate, carryOut = (run) => run() } = options;
  const ending = { code: 0 };
  const program = buildProgram({ output, gate, carryOut, ...(options.output === undefined ? { words } : {}) }, ending);
  try {
    await program.parseAsync([...words], { from: 'user' });
    return ending.code;
  } catch (error) {
    return reportFault(error, output, words.includes('--json'));
  }
}

/** All commands; each handler lives in a module of its own. */
function buildProgram(
  facts: {
    readonly output: Output;
    readonly gate: Gate | undefined;
    readonly carryOut: NonNullable<CommandLineOptions['carryOut']>;
    readonly words?: readonly string[];
  },
  ending: { code: number },
): Command {
  const program = new Command('stint')
    .description(
      'Hand over work with a goal, acceptance criteria and a budget; Stint plans it, does it and never passes the budget.',
    )
    .version(readVersion(), '-V, --version')
    .exitOverride()
    .showSuggestionAfterError()
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({
      writeOut: (text) => facts.output.line(text.trimEnd()),
      writeErr: (text) => facts.output.note(text.trimEnd()),
    });

  const act = (command: Command, load: () => Promise<Handler>): void => {
    command
      .option('--data-dir <path>', 'where the store lives (default: $STINT_DATA_DIR, else ~/.local/share/stint)')
      .exitOverride()
      .showSuggestionAfterError()
      .action(async (...parameters: unknown[]) => {
        const options = command.opts<CommandContext['options']>();
        const given = parameters.slice(0, -2).filter((word): word is string => typeof word === 'string');
        const { carryOut, ...rest } = facts;
        const context = { ...rest, options, environment: process.env };
        ending.code = await carryOut(async () => await (await load())(context, ...given));
      });
  };
  const json = (command: Command): Command => command.option('--json', 'print JSON to stdout and nothing else there');

  addLocal(program, act);
  addRun(program, act, json);
  addReading(program, act, json);
  addSteering(program, act, json);
  addBudget(program, act, json);
  addTools(program, act, json);
  return program;
}

type Act = (command: Command, load: () => Promise<Handler>) => void;
type WithJson = (command: Command) => Command;

function addLocal(program: Command, act: Act): void {
  const local = program
    .command('local')
    .description('serve the page and do the work on this machine')
    .option('--port <number>', 'port on 127.0.0.1; 0 = a free one', portNumber, 4400)
    .option('--no-open', 'do not open a browser')
    .option('--demo', 'make the simulated model the default, and begin with a small repository to mend')
    .option('--model <provider:name>', 'default model of new items')
    .addHelpText('after', '\nExamples:\n  $ stint local\n  $ stint local --port 0 --no-open --model simulated');
  act(local, async () => (await import('./local-command.js')).localCommand);
}

function addRun(program: Command, act: Act, json: WithJson): void {
  const run = program
    .command('run <goal>')
    .description('create a work item and follow it to its end')
    .option('--accept <text>', 'an acceptance criterion; may be given several times', collect, [])
    .option('--dir <path>', 'directory to work in')
    .option('--title <text>', 'title (default: the beginning of the goal)')
    .option('--tokens <number>', 'limit of tokens', wholeNumber)
    .option('--requests <number>', 'limit of provider requests', wholeNumber)
    .option('--cost <usd>', 'limit of money in dollars', dollars)
    .option('--model <provider:name>', 'model to use, such as openai:gpt-5 or simulated')
    .addOption(
      new Option(
        '--deliver <target>',
        'what is handed over (default: workspace_files with --dir, else response)',
      ).choices(['response', 'workspace_files']),
    )
    .addOption(
      new Option('--on-unknown <what>', 'a request whose outcome nobody knows after a crash')
        .choices(['ask', 'retry'])
        .default('ask'),
    )
    .addHelpText(
      'after',
      `
Built-in tools, the shell too, act inside --dir without asking. The shell has the rights of your user.

Exit codes: 0 done, 1 stint failed, 2 usage, 3 a person is asked, 4 cancelled, 5 budget stopped, 6 provider, 130 interrupted

Examples:
  $ stint run "make the failing test pass" --accept "node --test passes" --dir . --model simulated
  $ stint run "explain what a budget ledger is" --model openai:gpt-5 --tokens 20000`,
    );
  act(json(run), async () => (await import('./run-command.js')).runCommand);

  const watch = program
    .command('watch <id>')
    .description('follow an item to its end, and do its work if no agent does')
    .addHelpText('after', '\nExample:\n  $ stint watch 0198c2 --json');
  act(json(watch), async () => (await import('./run-command.js')).watchCommand);
}

function addReading(program: Command, act: Act, json: WithJson): void {
  const list = program
    .command('list')
    .description('all work items, newest first')
    .addHelpText('after', '\nExample:\n  $ stint list --json');
  act(json(list), async () => (await import('./read-commands.js')).listCommand);
  const show = program
    .command('show <id>')
    .description('one item: criteria, plan, budget, what it needs')
    .addHelpText('after', '\nExample:\n  $ stint show 0198c2');
  act(json(show), async () => (await import('./read-commands.js')).showCommand);
}

function addSteering(program: Command, act: Act, json: WithJson): void {
  const steer = (
    usage: string,
    says: string,
    example: string,
    name: keyof typeof import('./steer-commands.js'),
  ): Command => {
    const command = program.command(usage).description(says).addHelpText('after', `\nExample:\n  $ stint ${example}`);
    act(json(command), async () => (await import('./steer-commands.js'))[name] as Handler);
    return command;
  };
  steer('start <id>', 'start a draft', 'start 0198c2', 'startCommand');
  steer('pause <id>', 'keep the plan and stop spending', 'pause 0198c2', 'pauseCommand');
  steer('resume <id>', 'go on with a paused or cancelled item', 'resume 0198c2', 'resumeCommand');
  steer('cancel <id>', 'end an item; it can be resumed', 'cancel 0198c2', 'cancelCommand');
  steer(
    'message <id> <text>',
    'say something to the Coordinator',
    'message 0198c2 "leave the docs alone"',
    'messageCommand',
  );
  steer(
    'answer <id> <text>',
    'answer the question an item or Action asks',
    'answer 0198c2 "use the second one"',
    'answerCommand',
  ).option('--question <id>', 'which question, if there are several');
  steer('retry <action>', 'try a failed or waiting Action again', 'retry 0198c2/repair', 'retryCommand');
  steer(
    'resolve <id>',
    'say what became of a turn or an operation nobody knows the outcome of',
    'resolve 0198d7 --applied',
    'resolveCommand',
  )
    .option('--applied', 'operation: it took effect')
    .option('--no-effect', 'operation: it changed nothing')
    .option('--retry', 'turn: send it again; the unknown one stays charged')
    .option('--usage <in,out>', "turn: tokens by the provider's bill, such as 1200,80")
    .option('--not-billed', "turn: the provider's bill does not have it");
}

function addBudget(program: Command, act: Act, json: WithJson): void {
  const budget = program
    .command('budget')
    .description('what may be spent, and what is')
    .addHelpText('after', '\nExample:\n  $ stint budget show 0198c2');
  const add = (
    usage: string,
    says: string,
    example: string,
    name: keyof typeof import('./budget-commands.js'),
  ): Command => {
    const command = budget
      .command(usage)
      .description(says)
      .addHelpText('after', `\nExample:\n  $ stint budget ${example}`);
    act(json(command), async () => (await import('./budget-commands.js'))[name] as Handler);
    return command;
  };
  add('show <id>', 'limits, spent, held, unknown and left', 'show 0198c2', 'showBudgetCommand');
  add('extend <id>', 'add to limits; does not resume', 'extend 0198c2 --tokens 50000 --resume', 'extendBudgetCommand')
    .option('--tokens <number>', 'tokens to add', wholeNumber)
    .option('--requests <number>', 'requests to add', wholeNumber)
    .option('--cost <usd>', 'dollars to add', dollars)
    .option('--run-requests <number>', 'requests of one run to add', wholeNumber)
    .option('--attempts <number>', 'attempts at one Action to add', wholeNumber)
    .option('--failures <number>', 'failures in a row to add', wholeNumber)
    .option('--resume', 'and go on at once');
  add('resume <id>', 'go on after a budget stop', 'resume 0198c2', 'resumeBudgetCommand');
}

function addTools(program: Command, act: Act, json: WithJson): void {
  const tools = program.command('tools').description('the tools models may call');
  const add = (name: string, says: string, example: string): Command =>
    tools
      .command(name)
      .description(says)
      .option('--dir <path>', 'directory that the built-in tools work in', '.')
      .option(
        '--config <file>',
        'configuration that names further tools (default: stint.config.{js,mjs,json} here, else in ~/.config/stint)',
      )
      .option('--read-only', 'only tools that read')
      .addHelpText('after', `\nExample:\n  $ stint tools ${example}`);
  act(
    json(add('list', 'every tool with its annotations and where it comes from', 'list --json')),
    async () => (await import('./tools-commands.js')).listToolsCommand,
  );
  act(
    add('serve', 'offer the tools as an MCP server over stdin and stdout', 'serve --dir .'),
    async () => (await import('./tools-commands.js')).serveToolsCommand,
  );
}

const collect = (text: string, before: readonly string[]): readonly string[] => [...before, text];

function wholeNumber(text: string): number {
  const value = Number(text.replaceAll('_', ''));
  if (!/^[\d_]+$/.test(text) || !Number.isSafeInteger(value))
    throw new InvalidArgumentError('Give a whole number of 0 or more, such as 20000.');
  return value;
}

/** Dollars to micros; more than six decimals cannot be counted. */
function dollars(text: string): number {
  const value = Math.round(Number(text) * 1_000_000);
  if (!/^\d+(\.\d{1,6})?$/.test(text) || !Number.isSafeInteger(value))
    throw new InvalidArgumentError('Give dollars, such as 2 or 0.50.');
  return value;
}

function portNumber(text: string): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value > 65_535) throw new InvalidArgumentError('Give a port from 0 to 65535.');
  return value;
}
