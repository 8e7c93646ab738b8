// The official client of the second generation.  usage: node client-v2.mjs legacy|auto|pin COMMAND [ARGUMENT...]
// legacy: the handshake; auto: asks server/discover first; pin: 2026-07-28 and nothing else.
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import assert from 'node:assert/strict';
import { exercise } from './common.mjs';

const [mode, command, ...args] = process.argv.slice(2);
const client = new Client({ name: 'agent-safe-test', version: '1' },
  { versionNegotiation: { mode: mode === 'pin' ? { pin: '2026-07-28' } : mode } });
await client.connect(new StdioClientTransport({ command, args, env: { PATH: '/usr/bin:/bin' } }));
const version = client.getNegotiatedProtocolVersion?.() ?? client.getProtocolVersion?.();
assert.equal(version, mode === 'legacy' ? '2025-11-25' : '2026-07-28');
await exercise(client, (name, values, options) => client.callTool({ name, arguments: values }, options));
await client.close();
console.log('ok', version);
