"""Files that configure an array: transactions, CDO, register dumps, in and out."""
