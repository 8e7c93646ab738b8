// What both official clients are asked to do with agent-safe-mcp.  Used by client-v1.mjs and client-v2.mjs.
import assert from 'node:assert/strict';

export const TOOLS = ['propose', 'get', 'list', 'wait', 'output', 'assess', 'policy', 'verify'];

// Client: connected.  call(name, arguments, options): the result of a tool.  Every call is checked by the client
// itself against the tool's outputSchema.
export async function exercise(client, call) {
  const tools = [];
  let cursor;
  do {
    const page = await client.listTools(cursor ? { cursor } : {});
    tools.push(...page.tools);
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  assert.deepEqual(tools.map(tool => tool.name), TOOLS);

  const job = (await call('propose', { command: ['echo', 'by', 'an', 'official', 'client'] })).structuredContent;
  assert.equal(job.status, 'queued');
  assert.equal(job.assessment.allowed, true);
  const refused = (await call('propose', { command: ['rm', '-rf', '.'] })).structuredContent;
  assert.equal(refused.assessment.allowed, false);
  assert.ok(refused.policy.rules.length > 0);
  for (const [name, more] of [['get', {}], ['assess', {}], ['output', {}], ['wait', { timeout: 0 }]]) {
    const result = await call(name, { job_id: job.id, ...more });
    assert.ok(!result.isError || name === 'output', name); // nothing ran: there is no output yet
  }
  for (const name of ['list', 'policy', 'verify'])
    assert.ok((await call(name, {})).structuredContent, name);

  // A wrong argument is a result that the model reads; a tool that is not there is an error of the protocol.
  assert.equal((await call('propose', {})).isError, true);
  await assert.rejects(call('approve', { job_id: job.id }), error => error.code === -32602);
  await assert.rejects(client.listTools({ cursor: 'x' }), error => error.code === -32602);

  const seen = [];
  await call('wait', { job_id: job.id, timeout: 11 }, { onprogress: step => seen.push(step.progress) });
  assert.ok(seen.length >= 1 && seen.every((step, at) => at === 0 || step > seen[at - 1]), `progress ${seen}`);

  const stop = new AbortController();
  setTimeout(() => stop.abort(), 300);
  await assert.rejects(call('wait', { job_id: job.id, timeout: 60 }, { signal: stop.signal }));
  assert.equal((await call('get', { job_id: job.id })).structuredContent.status, 'queued');
}
