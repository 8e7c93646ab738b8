// For the conformance suite, which speaks HTTP only: a stdio server at http://127.0.0.1:PORT/mcp.
// usage: node bridge.mjs PORT COMMAND [ARGUMENT...]
// One process for each session of the older era, one for each request of the newer.  The rules of HTTP are kept
// here and are not what is tested: Host and Origin of this machine only, headers that agree with the body.
import http from 'node:http';
import readline from 'node:readline';
import { randomUUID } from 'node:crypto';
import { spawn } from 'node:child_process';

const [port, command, ...args] = process.argv.slice(2);
const sessions = new Map();
const META = 'io.modelcontextprotocol/protocolVersion';
const BAD = [-32602, -32020, -32021, -32022, -32600];

function start() {
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  child.listeners_ = new Set();
  readline.createInterface({ input: child.stdout }).on('line', line => {
    const message = JSON.parse(line); // what is no JSON ends the bridge, and so fails the suite
    for (const listener of [...child.listeners_])
      listener(message);
  });
  return child;
}

function refuse(response, status, code, message) {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ jsonrpc: '2.0', error: { code, message } }));
}

function isForeign(request) {
  const host = (request.headers.host || '').replace(/:\d+$/, '');
  const origin = request.headers.origin;
  return !['127.0.0.1', 'localhost'].includes(host) ||
    (origin && !/^https?:\/\/(127\.0\.0\.1|localhost)(:\d+)?$/.test(origin));
}

// What the newer era demands of headers; null: they agree.
function headerFault(request, message) {
  const version = message.params?._meta?.[META];
  const said = request.headers['mcp-protocol-version'], method = request.headers['mcp-method'];
  if (version && said && version !== said)
    return 'Mcp-Protocol-Version does not match the body';
  if (version && method !== undefined && method !== message.method)
    return 'Mcp-Method does not match the body';
  return null;
}

// Send one request to the child and its answers to the HTTP client; progress makes a stream of it.
function carry(child, message, response, newer, headers) {
  let streaming = false;
  const event = value => {
    if (!streaming)
      response.writeHead(200, { 'content-type': 'text/event-stream', ...headers });
    streaming = true;
    response.write(`event: message\ndata: ${JSON.stringify(value)}\n\n`);
  };
  const hear = value => {
    if (value.method)
      return event(value);
    if (value.id !== undefined && value.id !== message.id)
      return;
    child.listeners_.delete(hear);
    if (streaming) {
      event(value);
    } else {
      const code = newer ? value.error?.code : undefined;
      response.writeHead(code === -32601 ? 404 : BAD.includes(code) ? 400 : 200, { 'content-type': 'application/json', ...headers });
      response.write(JSON.stringify(value));
    }
    response.end();
    if (newer)
      child.stdin.end();
  };
  child.listeners_.add(hear);
  if (newer)
    response.on('close', () => child.stdin.end());
  child.stdin.write(JSON.stringify(message) + '\n');
}

function post(request, response, body) {
  let message;
  try {
    message = JSON.parse(body);
  } catch {
    return refuse(response, 400, -32700, 'not JSON');
  }
  const fault = headerFault(request, message);
  if (fault)
    return refuse(response, 400, -32020, fault);
  let session = request.headers['mcp-session-id'];
  if (message.method === 'initialize' && !message.params?._meta?.[META])
    sessions.set(session = randomUUID(), start());
  const child = sessions.get(session);
  if (message.id === undefined) {
    (child ?? start()).stdin[child ? 'write' : 'end'](JSON.stringify(message) + '\n');
    return response.writeHead(202).end();
  }
  carry(child ?? start(), message, response, !child, child ? { 'mcp-session-id': session } : {});
}

http.createServer((request, response) => {
  if (isForeign(request))
    return refuse(response, 403, -32000, 'not from this machine');
  if (request.method === 'DELETE') {
    sessions.get(request.headers['mcp-session-id'])?.stdin.end();
    sessions.delete(request.headers['mcp-session-id']);
    return response.writeHead(200).end();
  }
  if (request.method !== 'POST')
    return response.writeHead(405).end();
  let body = '';
  request.on('data', piece => body += piece);
  request.on('end', () => post(request, response, body));
}).listen(+port, '127.0.0.1', () => console.log('ready'));
