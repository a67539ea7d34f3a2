import type { TestService } from '../../support/service.ts';
import { until } from '../../support/until.ts';
import type { Api, PublishedClient } from './open-client.ts';

/** What the chapters of the client's story share. */
export interface ClientStory extends PublishedClient {
  service: TestService;
  organizationId: string;
  /** Calls a route that the published client does not know. */
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
  post(path: string, body: object): Promise<any>;
  /** Lets time pass, and everything that falls due happen. */
  advance(to: string): Promise<void>;
}

const ADVANCE_WITHIN_MS = 60_000;

export async function openClientStory(
  service: TestService,
  open: (url: string, apiKey: string) => PublishedClient,
  now: string,
): Promise<ClientStory> {
  const org = await service.org({ sandbox: true });
  const post = async (path: string, body: object) => {
    const answer = await org.post(path, body);
    if (answer.status !== 200) throw new Error(`${path}: ${answer.text}`);
    return answer.body;
  };
  await post('/test_clock', { test_clock: { frozen_time: now } });
  return {
    ...open(service.url, org.organization.api_key),
    service,
    organizationId: org.organization.organization_id,
    post,
    async advance(to) {
      await post('/test_clock/advance', { test_clock: { frozen_time: to } });
      const { status } = await until(async () => {
        const { test_clock } = (await org.get('/test_clock')).body;
        return test_clock.status === 'advancing' ? undefined : test_clock;
      }, ADVANCE_WITHIN_MS);
      if (status !== 'ready') throw new Error(`the clock is ${status}`);
    },
  };
}

/** Waits for the first row that a list shows. */
export const firstOf = <Row>(read: () => Promise<readonly Row[]>): Promise<Row> =>
  until(async () => (await read())[0], ADVANCE_WITHIN_MS);

export type { Api };
