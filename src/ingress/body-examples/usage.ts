const event = {
  transaction_id: '7f0c1b9e',
  external_subscription_id: 'ada-1',
  code: 'storage',
  timestamp: 1893456000.5,
  properties: { gb: 10, region: 'eu' },
};
const { transaction_id: _, timestamp: __, ...estimated } = event;
const alert = {
  alert_type: 'current_usage_amount',
  code: 'half',
  name: 'Half of the budget',
  thresholds: [{ value: '50000', code: 'warn' }],
};

const cloudEvent = {
  specversion: '1.0',
  id: '7f0c1b9e',
  source: '/gateway',
  type: 'storage',
  subject: 'ada-1',
  time: '2030-01-01T00:00:00.5Z',
  data: { gb: 10, region: 'eu' },
};

const aiUsage = {
  body: {
    id: 'chatcmpl-1',
    model: 'alpha',
    usage: { prompt_tokens: 3819, prompt_tokens_details: { cached_tokens: 3712 }, completion_tokens: 20 },
  },
  external_subscription_id: 'ada-1',
  properties: { agent: 'planner' },
};

/** Events as CloudEvents. */
export const CLOUD_EVENT_EXAMPLES: Readonly<Record<string, object>> = {
  createEvent: cloudEvent,
  createBatchEvents: [cloudEvent, { ...cloudEvent, id: '8a1d2c0f' }],
  createAiUsage: { ...cloudEvent, type: 'ai_usage', data: { body: aiUsage.body } },
  createAiUsageBatch: [{ ...cloudEvent, type: 'ai_usage', data: { body: aiUsage.body } }],
};

/** Bodies of requests about usage. */
export const USAGE_EXAMPLES: Readonly<Record<string, object>> = {
  createEvent: { event },
  createBatchEvents: { events: [event, { ...event, transaction_id: '8a1d2c0f' }] },
  eventEstimateFees: { event: estimated },
  eventEstimateInstantFees: { event },
  eventBatchEstimateInstantFees: { events: [{ event }] },
  createEventCorrection: {
    correction: {
      kind: 'amend',
      reason: 'the meter was off',
      external_subscription_id: 'ada-1',
      transaction_id: '7f0c1b9e',
      properties: { gb: 8, region: 'eu' },
    },
  },
  rerateCalls: {
    rerate: {
      from: '2026-03-01T00:00:00Z',
      to: '2026-04-01T00:00:00Z',
      model: 'beta',
      dry_run: true,
      reason: 'the contract begins in March',
    },
  },
  ignoreUnknownModel: { ignore: { provider: 'openai', model: 'test-model', reason: 'not sold' } },
  retryDeadLetter: {
    dead_letter: {
      payload: {
        transaction_id: '7f0c1b9e',
        external_subscription_id: 'ada-1',
        code: 'storage',
        properties: { gb: 8, region: 'eu' },
      },
    },
  },
  createAiUsage: { ai_usage: aiUsage },
  createAiUsageBatch: { ai_usages: [aiUsage] },
  previewAiUsage: { ai_usage: aiUsage },
  updateAiSubjects: { subjects: [{ kind: 'team', value: 'research', external_subscription_id: 'ada-1' }] },
  setUpAi: { setup: {} },
  healUnmatchedEvents: { heal: { code: 'storage' } },
  createSubscriptionAlert: { alert },
  updateSubscriptionAlert: { alert: { thresholds: [{ value: '60000', code: 'warn' }] } },
  createCustomerWalletAlert: {
    alert: { alert_type: 'wallet_balance_amount', code: 'low', thresholds: [{ value: '1000', code: 'warn' }] },
  },
  updateCustomerWalletAlert: { alert: { thresholds: [{ value: '500', code: 'warn' }] } },
  checkAccess: { access: { external_subscription_id: 'ada-1', feature_code: 'seats', units: 1 } },
  createTestClock: { test_clock: { frozen_time: '2030-01-01T00:00:00Z' } },
  advanceTestClock: { test_clock: { frozen_time: '2030-02-01T12:00:00Z' } },
  updateAuditFinding: { audit_finding: { status: 'acknowledged', note: 'Known since Monday' } },
  createAudit: { audit: { checks: ['A01'] } },
};

/** Lines of a bulk request. */
export const BULK_EXAMPLE = [event, { ...event, transaction_id: '8a1d2c0f' }]
  .map((each) => `${JSON.stringify(each)}\n`)
  .join('');
