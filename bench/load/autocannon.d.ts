declare module 'autocannon' {
  import type { EventEmitter } from 'node:events';

  export interface Client extends EventEmitter {
    setBody(body: string | Buffer): void;
  }

  export interface Options {
    url: string;
    method: string;
    headers: Record<string, string>;
    body: string;
    connections: number;
    duration: number;
    /** Milliseconds between two looks at whether the time is over. */
    sampleInt: number;
    setupClient(client: Client): void;
  }

  export interface Result {
    errors: number;
    timeouts: number;
  }

  export default function autocannon(options: Options): Promise<Result>;
}
