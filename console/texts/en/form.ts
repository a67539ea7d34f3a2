export const form = {
  done: 'Done',
  refused: 'Some values were refused.',
  changedMeanwhile:
    'Somebody has changed this since you opened it. It now says the following; send again to replace it.',
  typeBefore: 'Type',
  typeAfter: 'to go on',
  request: 'The request',
  cancel: 'Cancel',
  sending: 'Sending …',
};
