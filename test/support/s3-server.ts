import { S3Client } from '@aws-sdk/client-s3';
import S3rver from 's3rver';

const CREDENTIALS = { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' };

/** A server that speaks S3, with one bucket `usage`, and a client of it. */
export interface S3Server {
  endpoint: string;
  client: S3Client;
  stop(): Promise<void>;
}

/** @param directory where it keeps its files */
export async function startS3Server(directory: string): Promise<S3Server> {
  const configureBuckets = [{ name: 'usage' }];
  const server = new S3rver({ address: '127.0.0.1', port: 0, silent: true, directory, configureBuckets });
  const endpoint = `http://127.0.0.1:${(await server.run()).port}`;
  const client = new S3Client({
    region: 'eu-west-1',
    endpoint,
    credentials: CREDENTIALS,
    forcePathStyle: true,
    // This server would store the checksums of each part beside it.
    requestChecksumCalculation: 'WHEN_REQUIRED',
  });
  return {
    endpoint,
    client,
    async stop() {
      client.destroy();
      await server.close();
    },
  };
}
