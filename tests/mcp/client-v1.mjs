// The official SDK's client of the first generation: the older era.  usage: node client-v1.mjs COMMAND [ARGUMENT...]
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { ResultSchema } from '@modelcontextprotocol/sdk/types.js';
import assert from 'node:assert/strict';
import { exercise } from './common.mjs';

const [command, ...args] = process.argv.slice(2);
const client = new Client({ name: 'agent-safe-test', version: '1' }, { capabilities: {} });
await client.connect(new StdioClientTransport({ command, args, env: { PATH: '/usr/bin:/bin' } }));
assert.deepEqual(client.getServerCapabilities(), { tools: {} });
assert.equal(client.getServerVersion().name, 'agent-safe');
assert.ok(client.getInstructions().length > 100);
await client.ping();
await exercise(client, (name, values, options) => client.callTool({ name, arguments: values }, undefined, options));
await assert.rejects(client.request({ method: 'no/such' }, ResultSchema), error => error.code === -32601);
await client.close();
console.log('ok');
