const closedPipe = 141; // as a shell reports a program that SIGPIPE ended

/**
 * Ends the process when its result can no longer be written: whoever reads left early, as `head` does, or the disk is full. What runs then is
 * stopped as by a kill, which nothing is lost by.
 */
export function endUnwritten(error: NodeJS.ErrnoException): never {
  if (error.code === 'EPIPE') process.exit(closedPipe);
  process.stderr.write(`stint: The result could not be written: ${error.message}\n`);
  return process.exit(1);
}
