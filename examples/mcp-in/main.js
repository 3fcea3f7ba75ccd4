// Uses the tools of an MCP server. Usage: node main.js [command args...]
// Without arguments it starts the server of ../mcp-out for a new folder, so that it runs offline.
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { connectMcp, createRegistry } from '@stint/tools';

const folder = await mkdtemp(join(tmpdir(), 'stint-mcp-in-'));
const ownServer = fileURLToPath(new URL('../mcp-out/server.js', import.meta.url));
const [command = process.execPath, ...args] = process.argv.slice(2);
const server = process.argv.length > 2 ? { command, args } : { command, args: [ownServer, folder] };

// Tools are named example__<tool>. Their annotations are shown, but decide nothing until you say trustAnnotations.
const connection = await connectMcp({ name: 'example', server });
try {
  for (const { name, annotations, readOnly } of connection.tools) {
    console.log(name.padEnd(28), readOnly ? 'read-only' : 'may change things', JSON.stringify(annotations));
  }
  for (const { name, reason } of connection.refused) console.log(`refused ${name}: ${reason}`);

  const registry = createRegistry();
  connection.registerIn(registry); // and it stays in step when the server's list changes
  const context = { signal: AbortSignal.timeout(30_000) };
  const call = async (name, input) => {
    const { ok, output } = await registry.call(`example__${name}`, input, context);
    console.log(`\n${name} ${JSON.stringify(input)}\n${ok ? 'ok' : 'failed'}: ${output.trimEnd()}`);
  };
  await call('write_file', { path: 'hello.txt', content: 'Hello from another process.\n' });
  await call('read_file', { path: 'hello.txt' });
  await call('read_file', { path: '../outside.txt' });
  await call('shell', { command: 'rm hello.txt' });
} finally {
  await connection.close(); // ends the server's process and whatever it started
}
