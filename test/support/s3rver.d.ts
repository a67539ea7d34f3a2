declare module 's3rver' {
  import type { AddressInfo } from 'node:net';

  export interface Options {
    address: string;
    port: number;
    silent: boolean;
    directory: string;
    configureBuckets: { name: string }[];
  }

  /** An S3 server; its only key is `S3RVER` with the secret `S3RVER`. */
  export default class S3rver {
    constructor(options: Options);
    run(): Promise<AddressInfo>;
    close(): Promise<void>;
  }
}
