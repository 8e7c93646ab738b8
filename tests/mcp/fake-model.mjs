// A model that is none, on loopback, for four kinds of agent: it proposes through MCP, waits for the person's
// decision and the end of the job, and says what the job wrote.  usage: node fake-model.mjs PORT LOGFILE [shell]
// With "shell" it proposes nothing: it runs one command by the host's own tool and says what that wrote.
//   /v1/messages   as Anthropic's               /v1/responses             as OpenAI's
//   ...:streamGenerateContent   as Gemini's     /v1/chat/completions      as many others'
import fs from 'node:fs';
import http from 'node:http';

const [port, log, mode] = process.argv.slice(2);
const note = value => fs.appendFileSync(log, JSON.stringify(value) + '\n');
let turn = 0;

const COMMAND = 'echo written by an approved job >said; cat said';

// The host's own shell, once.
function nextOfShell(results, tools) {
  const tool = ['Bash', 'bash', 'run_shell_command', 'exec_command', 'shell_command'].find(name => tools.includes(name));
  if (!tool)
    return { text: `no shell among ${tools}` };
  if (results.length === 0)
    return { tool, input: tool === 'exec_command' ? { cmd: COMMAND } : { command: COMMAND, description: 'say it' } };
  return { text: `The job wrote: ${/written by an approved job/.exec(results.at(-1))?.[0] ?? `nothing: ${results.at(-1)}`}` };
}

// What to do next, from the texts of the tool results so far: {tool, input} or {text}.  A host that offers its own
// shell gets a call of that first: then its permission prompt is what proposes.
function next(results, tools) {
  if (mode === 'shell')
    return nextOfShell(results, tools);
  const last = results.at(-1) ?? '';
  if (results.length === 0 && tools.includes('Bash'))
    return { tool: 'Bash', input: { command: COMMAND, description: 'say it' } };
  if (results.length === 0)
    return { tool: 'propose', input: { command: ['echo', 'written by an approved job'] } };
  if (results.length === 1) {
    const id = /[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/.exec(last)?.[0];
    return id ? { tool: 'wait', input: { job_id: id, timeout: 60 } } : { text: `no job: ${last}` };
  }
  // Of "stdout" in the job's result, not of the command's words.
  return { text: `The job wrote: ${/stdout\W{1,8}([\w ]+)/.exec(last)?.[1] ?? `nothing: ${last}`}` };
}

const nameOf = (tools, wanted) => tools.find(name => new RegExp(`agent.safe_+${wanted}$`).test(name));
const json = (response, value, status = 200) => {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(value));
};

// --- Anthropic ---

function anthropic(request, response) {
  const blocks = (request.messages ?? []).flatMap(message => Array.isArray(message.content) ? message.content : []);
  const results = blocks.filter(block => block.type === 'tool_result').map(block => JSON.stringify(block.content));
  const tools = (request.tools ?? []).map(tool => tool.name);
  const usage = { input_tokens: 100, output_tokens: 20, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 };
  const begin = { id: `msg_${turn}`, type: 'message', role: 'assistant', model: request.model, stop_reason: null,
    stop_sequence: null, usage };
  if (!request.stream)
    return json(response, { ...begin, content: [{ type: 'text', text: 'a title' }], stop_reason: 'end_turn' });
  const step = tools.length ? next(results, tools) : { text: '{"title":"none"}' };
  const event = (type, more) => response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`);
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  event('message_start', { message: { ...begin, content: [] } });
  event('content_block_start', { index: 0, content_block: step.tool
    ? { type: 'tool_use', id: `toolu_${turn}`, name: nameOf(tools, step.tool) ?? step.tool, input: {} }
    : { type: 'text', text: '' } });
  event('content_block_delta', { index: 0, delta: step.tool
    ? { type: 'input_json_delta', partial_json: JSON.stringify(step.input) }
    : { type: 'text_delta', text: step.text } });
  event('content_block_stop', { index: 0 });
  event('message_delta', { delta: { stop_reason: step.tool ? 'tool_use' : 'end_turn', stop_sequence: null }, usage });
  event('message_stop', {});
  response.end();
}

// --- OpenAI ---

function openai(request, response) {
  const input = Array.isArray(request.input) ? request.input : [];
  const results = input.filter(item => /_call_output$/.test(item.type)).map(item => JSON.stringify(item.output));
  const tools = [...(request.tools ?? []), ...input.flatMap(item => item.type === 'additional_tools' ? item.tools : [])]
    .map(tool => tool.name ?? tool.type);
  const step = next(results, tools);
  const namespace = tools.find(name => /^mcp__agent.safe$/.test(name));
  const item = step.tool
    ? { type: 'function_call', id: `fc_${turn}`, call_id: `call_${turn}`, arguments: JSON.stringify(step.input),
      ...(namespace ? { namespace, name: step.tool } : { name: nameOf(tools, step.tool) ?? step.tool }) }
    : { type: 'message', id: `msg_${turn}`, role: 'assistant', content: [{ type: 'output_text', text: step.text, annotations: [] }] };
  const usage = { input_tokens: 100, input_tokens_details: { cached_tokens: 0 }, output_tokens: 20,
    output_tokens_details: { reasoning_tokens: 0 }, total_tokens: 120 };
  const event = (type, more) => response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`);
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  event('response.created', { response: { id: `resp_${turn}`, status: 'in_progress' } });
  event('response.output_item.added', { output_index: 0, item });
  event('response.output_item.done', { output_index: 0, item });
  event('response.completed', { response: { id: `resp_${turn}`, status: 'completed', output: [item], usage } });
  response.end();
}

// --- chat completions ---

function chat(request, response) {
  const results = (request.messages ?? []).filter(message => message.role === 'tool').map(message => JSON.stringify(message.content));
  const tools = (request.tools ?? []).map(tool => tool.function.name);
  const step = tools.length ? next(results, tools) : { text: 'a title' };
  const send = (delta, finish, more) => response.write(`data: ${JSON.stringify({ id: `c${turn}`, object: 'chat.completion.chunk',
    created: 1, model: request.model, choices: [{ index: 0, delta, finish_reason: finish }], ...more })}\n\n`);
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  send(step.tool
    ? { role: 'assistant', tool_calls: [{ index: 0, id: `call_${turn}`, type: 'function',
      function: { name: nameOf(tools, step.tool) ?? step.tool, arguments: JSON.stringify(step.input) } }] }
    : { role: 'assistant', content: step.text }, null);
  send({}, step.tool ? 'tool_calls' : 'stop', { usage: { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 } });
  response.end('data: [DONE]\n\n');
}

// --- Gemini ---

function gemini(request, response, url) {
  const parts = (request.contents ?? []).flatMap(content => content.parts ?? []);
  const results = parts.filter(part => part.functionResponse).map(part => JSON.stringify(part.functionResponse.response));
  const tools = (request.tools ?? []).flatMap(tool => tool.functionDeclarations ?? []).map(tool => tool.name);
  const answer = part => ({ candidates: [{ content: { role: 'model', parts: [part] }, finishReason: 'STOP', index: 0 }],
    usageMetadata: { promptTokenCount: 100, candidatesTokenCount: 20, totalTokenCount: 120 }, modelVersion: 'fake', responseId: `r${turn}` });
  if (/:countTokens/.test(url))
    return json(response, { totalTokens: 42 });
  if (/:generateContent/.test(url))
    return json(response, answer({ text: '{"reasoning":"none","model_choice":"flash","complexity_score":1,"complexity_reasoning":"none"}' }));
  const step = next(results, tools);
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write(`data: ${JSON.stringify(answer(step.tool
    ? { functionCall: { name: nameOf(tools, step.tool) ?? step.tool, args: step.input }, thoughtSignature: 'AAAA' }
    : { text: step.text }))}\r\n\r\n`);
  response.end();
}

http.createServer((request, response) => {
  let body = '';
  request.on('data', piece => body += piece);
  request.on('end', () => {
    let value = {};
    try {
      value = JSON.parse(body);
    } catch { /* a GET has none */ }
    turn++;
    note({ turn, url: request.url, tools: JSON.stringify(value.tools ?? []).match(/[a-z_]*agent.safe_[a-z]+/g), last: body.slice(-600) });
    if (/\/v1\/messages\/count_tokens/.test(request.url))
      return json(response, { input_tokens: 42 });
    if (/\/v1\/messages/.test(request.url))
      return anthropic(value, response);
    if (/\/chat\/completions$/.test(request.url))
      return chat(value, response);
    if (/\/responses$/.test(request.url))
      return openai(value, response);
    if (/:(countTokens|generateContent|streamGenerateContent)/.test(request.url))
      return gemini(value, response, request.url);
    json(response, { error: { message: 'no such path', type: 'not_found' } }, 404);
  });
}).listen(+port, '127.0.0.1', () => note({ ready: true }));
