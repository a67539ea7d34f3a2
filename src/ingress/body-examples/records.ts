const payload = {
  id: 'chatcmpl-1',
  call_type: 'acompletion',
  status: 'success',
  custom_llm_provider: 'openai',
  model: 'alpha',
  endTime: 1893456000.5,
  prompt_tokens: 3819,
  completion_tokens: 20,
  total_tokens: 3839,
  metadata: { requester_metadata: { external_subscription_id: 'ada-1' } },
};

const text = (key: string, stringValue: string) => ({ key, value: { stringValue } });
const whole = (key: string, intValue: string) => ({ key, value: { intValue } });
const call = {
  traceId: '5b8efff798038103d269b633813fc60c',
  spanId: 'eee19b7ec3c1b174',
  attributes: [
    text('gen_ai.operation.name', 'chat'),
    text('gen_ai.provider.name', 'openai'),
    text('gen_ai.response.model', 'alpha'),
    whole('gen_ai.usage.input_tokens', '3819'),
    whole('gen_ai.usage.output_tokens', '20'),
  ],
};
const resource = { attributes: [text('external_subscription_id', 'ada-1')] };
const span = { ...call, name: 'chat alpha', kind: 3, endTimeUnixNano: '1893456000500000000' };
const logRecord = { ...call, timeUnixNano: '1893456000500000000' };

/** Bodies with records of other programs, as texts. */
export const RECORD_EXAMPLES: Readonly<Record<string, string>> = {
  createLitellmUsage: JSON.stringify([payload]),
  createOtlpTraces: JSON.stringify({ resourceSpans: [{ resource, scopeSpans: [{ spans: [span] }] }] }),
  createOtlpLogs: JSON.stringify({ resourceLogs: [{ resource, scopeLogs: [{ logRecords: [logRecord] }] }] }),
};
