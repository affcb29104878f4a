/* SPDX-License-Identifier: Apache-2.0 */
/*
 * /bin/say, all there is in the image "noshell". Called with a file it prints that file's lines but for those that
 * start with '#', and a line "exit N" ends it with N: so it can be the interpreter of a job file, where no shell is.
 * Called without one it prints a line.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
	char line[4096];
	FILE *f;

	if (argc < 2)
		return puts("no shell here") < 0;
	f = fopen(argv[1], "r");
	if (!f) {
		perror(argv[1]);
		return 1;
	}
	while (fgets(line, sizeof(line), f)) {
		if (line[0] == '#')
			continue;
		if (!strncmp(line, "exit ", 5)) {
			fflush(stdout);
			return atoi(line + 5);
		}
		fputs(line, stdout);
	}
	return 0;
}
