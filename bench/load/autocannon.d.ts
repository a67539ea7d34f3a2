declare module 'autocannon' {
  import type { EventEmitter } from 'node:events';

  export interface Client extends EventEmitter {
    /** Bytes of the next request; called once for each. */
    getRequestBuffer(): Buffer;
  }

  export interface Options {
    url: string;
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
