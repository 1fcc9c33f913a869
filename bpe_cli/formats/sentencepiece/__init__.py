"""SentencePiece's files, and llama2.c's, which is made of one."""
