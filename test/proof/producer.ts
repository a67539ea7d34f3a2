import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, request } from 'undici';

/** Longer than the service takes for any answer on a machine with nothing to spare. */
const PATIENCE_MS = 60_000;

/**
 * One organization's producer: sends its events and customers until each is accepted, whatever happens to the service.
 */
export class Producer {
  readonly accepted = new Set<string>();
  readonly customers = new Set<string>();
  /** Answers of every status, and tries without an answer by the code of their error. */
  readonly statuses = new Map<number | string, number>();
  readonly #url: string;
  readonly #key: string;
  readonly #agent = new Agent({ connections: 64, headersTimeout: PATIENCE_MS, bodyTimeout: PATIENCE_MS });
  readonly #open = new Set<Promise<void>>();

  constructor(url: string, key: string) {
    this.#url = url;
    this.#key = key;
  }

  /** Sends `perSecond` events (a fifth of them in batches of ten) and two customers a second, for this long. */
  async run(perSecond: number, seconds: number): Promise<void> {
    const started = performance.now();
    const total = perSecond * seconds;
    let sent = 0;
    let customers = 0;
    while (sent < total) {
      const due = Math.min(total, Math.floor(((performance.now() - started) / 1000) * perSecond));
      while (sent < due) {
        if (sent % 50 === 0 && sent + 10 <= total) {
          this.#start(this.#events(Array.from({ length: 10 }, (_, index) => sent + index)));
          sent += 10;
        } else {
          this.#start(this.#events([sent]));
          sent += 1;
        }
      }
      while (customers < ((performance.now() - started) / 1000) * 2) this.#start(this.#customer(customers++));
      await sleep(5);
    }
    while (this.#open.size > 0) await Promise.all(this.#open);
    await this.#agent.close();
  }

  #start(work: Promise<void>): void {
    this.#open.add(work);
    work.finally(() => this.#open.delete(work)).catch(() => {}); // run() meets the failure itself
  }

  async #events(numbers: number[]): Promise<void> {
    const events = numbers.map((number) => ({
      transaction_id: `t${number}`,
      external_subscription_id: `s${number % 7}`,
      code: 'calls',
      timestamp: 1_700_000_000 + number,
      properties: { region: number % 2 === 0 ? 'eu' : 'us', units: number % 10 },
    }));
    await (events.length === 1
      ? this.#until200('/events', { event: events[0] })
      : this.#until200('/events/batch', { events }));
    for (const event of events) this.accepted.add(event.transaction_id);
  }

  async #customer(number: number): Promise<void> {
    const external_id = `c${number}`;
    await this.#until200('/customers', { customer: { external_id, name: `Customer ${number}` } });
    this.customers.add(external_id);
  }

  async #until200(path: string, body: object): Promise<void> {
    for (let attempt = 0; attempt < 60; attempt += 1) {
      const status = await this.#post(path, body);
      this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1);
      if (status === 200) return;
      if (typeof status === 'number' && status >= 400 && status < 500 && status !== 429)
        throw new Error(`${path} answered ${status}`);
      await sleep(200 + 20 * attempt);
    }
    throw new Error(`${path} was never accepted`);
  }

  async #post(path: string, body: object): Promise<number | string> {
    try {
      const answer = await request(`${this.#url}/api/v1${path}`, {
        method: 'POST',
        dispatcher: this.#agent,
        headers: { authorization: `Bearer ${this.#key}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      await answer.body.dump();
      return answer.statusCode;
    } catch (error) {
      return (error as { code?: string }).code ?? String(error); // nothing is known of this try
    }
  }
}
