/** Bodies of requests about budgets. */
export const BUDGET_EXAMPLES: Readonly<Record<string, object>> = {
  createBudget: {
    budget: {
      code: 'ada-month',
      name: 'Ada’s month',
      scope: 'customer',
      external_customer_id: 'ada',
      group_by: ['user'],
      measure: 'amount',
      currency: 'USD',
      limit: '10000',
      period: 'month',
    },
  },
  updateBudget: { budget: { limit: '12000', alert_percents: [80, 100] } },
  topUpBudget: { top_up: { amount: '2000', group: { user: 'u1' }, reason: 'launch week' } },
  resetBudget: { reset: { group: { user: 'u1' }, reason: 'a test run' } },
  createBudgetDecision: {
    decision: {
      hold_key: 'run-42/7',
      external_subscription_id: 'ada-1',
      code: 'ai_usage',
      properties: { user: 'u1', agent: 'planner' },
      amount: '8.544',
      expires_in_seconds: 120,
      settle: [{ hold_key: 'run-42/6', amount: '3.2' }],
    },
  },
  updateBudgetHold: { hold: { expires_in_seconds: 600, amount: '12' } },
  settleBudgetHold: { hold: { amount: '7.91' } },
};
