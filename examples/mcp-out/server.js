// Offers the built-in tools for a folder as an MCP server over standard input and output.
// Usage: node server.js [folder]; any MCP client can start it with that command.
import { createApprovalPolicy, createRegistry, serveTools, workspaceTools } from '@stint/tools';

const root = process.argv[2] ?? '.';
const registry = createRegistry(workspaceTools({ root, mode: 'write', environment: process.env }));

// Nobody can be asked over this connection, so what the rules do not allow is refused.
const policy = createApprovalPolicy({
  rules: [
    { decision: 'deny', path: '.git/**' },
    { decision: 'allow', tool: 'shell', command: 'node --test*' },
    { decision: 'deny', tool: 'shell', reason: 'only the tests may be run' },
    { decision: 'allow', source: 'built-in' },
  ],
});

const server = await serveTools(registry, { name: 'stint-example', policy, workspace: { root } });
await server.closed;
