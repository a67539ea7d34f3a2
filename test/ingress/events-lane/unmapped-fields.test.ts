import { expect, test } from 'vitest';
import { doorSettings } from '../../../src/areas/usage/ai-doors/door-settings.ts';
import { readUsageItem } from '../../../src/areas/usage/ai-doors/usage-item.ts';
import { UnmappedFields } from '../../../src/ingress/events-lane/unmapped-fields.ts';
import type { ExternalSubscriptionId } from '../../../src/platform/ids.ts';

const facts = {
  settings: doorSettings({}),
  subscription: 'ada-1' as ExternalSubscriptionId,
  at: '2030-01-01T00:00:00.000000Z',
};
const call = (fields: object) =>
  readUsageItem(
    { body: { id: 'a', model: 'alpha', usage: { prompt_tokens: 1, completion_tokens: 1, ...fields } } },
    facts,
  );

test('fields that no mapping knows are counted by format and path, a hundred paths of a process', () => {
  const counted: string[] = [];
  const fields = new UnmappedFields({ inc: ({ format, path }) => counted.push(`${format} ${path}`) });
  fields.note([call({ zen_tokens: 3, cold_tokens: 0 }), call({}), call({ zen_tokens: 'x', prompt_tokens: -1 })]);
  expect(counted).toEqual(['openai_chat/1 zen_tokens']);
  fields.note(Array.from({ length: 100 }, (_, n) => call({ [`new_${n}`]: 1 })));
  fields.note([call({ zen_tokens: 1 })]);
  expect(counted.slice(-3)).toEqual(['openai_chat/1 new_98', 'openai_chat/1 other', 'openai_chat/1 zen_tokens']);
});
