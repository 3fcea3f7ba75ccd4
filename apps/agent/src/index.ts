export { type CommandLineOptions, runCommandLine } from './command-line.js';
export { exitCodes, type ExitReason } from './exit-codes.js';
export type { Output } from './output.js';
