import type { PayTexts } from './pay-texts.ts';

export const fr: PayTexts = {
  payAmount: 'Payer {amount}',
  payHereUntil: 'Payer cette facture ici (le lien est valable jusqu’au {date})',
  more: 'et {count} de plus',
  paid: { title: 'Payé, merci', text: 'Votre paiement est arrivé.' },
  processing: {
    title: 'Votre paiement est en cours',
    text: 'Vous n’avez rien d’autre à faire. Il sera confirmé dès sa réception.',
  },
  expectedOn: 'Paiement attendu le {date}',
  confirm: {
    title: 'Confirmez votre paiement',
    text: 'Votre banque vous demande de le confirmer.',
    button: 'Confirmer le paiement',
  },
  voided: { title: 'Cette facture a été annulée', text: 'Il n’y a rien à payer.' },
  nothingDue: { title: 'Rien à payer', text: 'Plus aucun montant n’est dû.' },
  transfer: {
    title: 'Payer par virement',
    text: 'Virez le montant sur ce compte en indiquant la référence.',
    holder: 'Titulaire du compte',
  },
  ask: 'Demandez à {issuer} comment payer.',
  opening: {
    title: 'Un instant',
    text: 'Vous allez être dirigé vers la page de paiement.',
    link: 'Continuer vers la page de paiement',
  },
  tryAgain: {
    title: 'La page de paiement ne s’ouvre pas pour le moment',
    text: 'Rien n’a été débité. Réessayez dans une minute.',
    button: 'Réessayer',
  },
  expired: { title: 'Ce lien a expiré', text: 'Demandez-en un nouveau à l’émetteur de la facture.' },
  mail: {
    refused: 'Votre moyen de paiement n’a pas pu être débité.',
    payHere: 'Payez ici (le lien est valable {days} jours) :',
    onPage: 'Les factures peuvent être ouvertes sur cette page.',
    view: 'Voir les factures',
    worksFor: 'Le lien est valable {days} jours.',
  },
};
