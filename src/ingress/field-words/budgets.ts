import type { FieldWords } from './words.ts';

/** Budgets, decisions and holds. */
export const BUDGET_FIELDS: FieldWords = {
  'budget.code': 'Code of the budget, unique; frozen',
  'budget.name': 'Name that people read',
  'budget.scope': 'Whose usage counts: of the organization, a customer or a subscription; frozen',
  'budget.external_customer_id': 'Of the scope `customer`: the customer’s `external_id`; frozen',
  'budget.external_subscription_id': 'Of the scope `subscription`: the subscription’s `external_id`; frozen',
  'budget.codes': 'Only events with one of these codes, at most 20; frozen',
  'budget.feature_code': 'Only events of the metrics that this feature limits; frozen',
  'budget.match': 'Only events with these properties, at most 4, by name and value; frozen',
  'budget.group_by': 'Names of at most 3 properties: each of their values has a window and a limit of its own; frozen',
  'budget.measure':
    'What is added up: `cost` or `amount` in cents, `units` of a metric, or `tokens`; an event without it does not count',
  'budget.billable_metric_code': 'Of `units`: the metric, which counts or sums; frozen',
  'budget.currency':
    'Of `cost` (default USD) and `amount`: three letters of ISO 4217; neither converts nor selects events; frozen',
  'budget.limit': 'The most of one window, more than 0, a decimal as text or number; cents where it is money',
  overrides: 'Limits of single values of `group_by`, the whole list, at most 1 000',
  'overrides.values': 'The values, in the order of `group_by`; null: events without the property',
  'overrides.limit': 'The limit of these values',
  'budget.period': 'How long a window lasts; `billing_period` only of a subscription; frozen',
  'budget.timezone':
    'Time zone in which days begin; default: the customer’s or the default billing entity’s of this moment; frozen',
  'budget.mode': '`hard` (default) refuses beyond the limit, `soft` only announces it',
  alert_percents: 'Percentages of the limit that are announced when spending passes them; default 50, 80, 100',
  on_outage: 'What clients do while the service cannot answer: `closed` (default of hard), `open` (default of soft)',
  offline_allowance: 'With `open`: how much a client process may spend without an answer; default 0',
  unknown_price: '`deny` (default of hard) or `allow`: kept and shown for your client; no decision looks at it',
  'top_up.amount': 'How much is added to the limit of the current window',
  group: 'Which window, by the values of `group_by`; mandatory with it',
  'top_up.reason': 'Why, in words, at most 255 characters',
  'reset.reason': 'Why, in words, at most 255 characters',

  hold_key: 'Identifier of your choice for the hold; the same question again has the same answer. Without it: advice',
  'decision.external_subscription_id': 'Subscription that will be used, by its `external_id`',
  'decision.code': 'Code of the events to come',
  'decision.properties': 'Properties of the events to come, by which budgets are chosen and grouped',
  'decision.amount': 'The most that it may cost, in cents: for budgets of `cost` and `amount`',
  'decision.units': 'The most units that it may use: for budgets of `units`',
  'decision.tokens': 'The most tokens that it may use: for budgets of `tokens`',
  'decision.allow_partial': 'true: holds what is left where that is less; default false',
  settle: 'Holds that are settled first, at most 20, so that what they free is there for this one',
  'settle.hold_key': 'Key of the hold',
  'ai_usage.hold_key': 'Key of the hold of budgets that the call settles',
  'ai_usages.hold_key': 'Key of the hold of budgets that the call settles',
  svc_hold_id: 'The hold of budgets that the call settles, by its id; or send `hold_key`',
  'settle.event': 'The event that was held for: stored in the same transaction; or send `usage` or `amount`',
  'settle.usage': 'What a provider reported about the call, as `ai_usage`; its subscription is the hold’s',
  'settle.amount': 'What was really used, in cents; or send `event` or `usage`',
  'settleBudgetHold.hold.event':
    'The event that was held for: stored in the same transaction; or send `usage` or `amount`',
  'settleBudgetHold.hold.usage':
    'What a provider reported about the call, as `ai_usage`; its subscription is the hold’s',
  'hold.amount': 'What is or was used, in cents: for budgets of `cost` and `amount`',
};

/** The same of answers. */
export const SHOWN_BUDGET_FIELDS: FieldWords = {
  topped_up: 'What was added to the limit of this window alone',
  spent: 'What was used, with what came since the last decision',
  held: 'What open holds may still use',
  remaining: 'What a further hold may take',
  requested: 'What was asked for, or is held by this decision',
  overrun: 'What was used beyond the limit',
  'window.state': '`open`, `blocked` (hard) or `over` (soft) once the limit is used up, `closed` when it has ended',
  decision_no: 'How many decisions have looked at the window; orders them',
  exceeded: 'Codes of the budgets without enough room',
  settled: 'What became of each settlement',
  late: 'true: the hold had ended when it was settled',
  outage: 'What a client does while no answer comes',
};
