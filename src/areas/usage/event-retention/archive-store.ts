import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, open, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { openBucket, readBucketAddress } from '../../../platform/s3/bucket.ts';

/** Where archives lie, by paths with `/`. What is put is whole and on the disk, or not there. */
export interface ArchiveStore {
  put(file: string, path: string): Promise<void>;
  fetch(path: string, file: string): Promise<void>;
}

/** A folder (`file:///…`) that every process of the service sees, or a bucket (`s3://…`). */
export const openStore = (url: string): ArchiveStore =>
  url.startsWith('s3:') ? openBucket(readBucketAddress(url)) : openFolder(url);

function openFolder(url: string): ArchiveStore {
  const root = fileURLToPath(url);
  return {
    async put(file, path) {
      const target = join(root, path);
      await mkdir(dirname(target), { recursive: true });
      const part = `${target}.part`;
      try {
        await copy(file, part);
        await rename(part, target);
        await sync(dirname(target));
      } finally {
        await rm(part, { force: true });
      }
    },
    fetch: async (path, file) => {
      const source = join(root, path);
      await stat(source);
      await copy(source, file);
    },
  };
}

async function copy(source: string, target: string): Promise<void> {
  await pipeline(createReadStream(source), createWriteStream(target));
  await sync(target);
}

/** A name is on the disk only with its folder. */
async function sync(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
