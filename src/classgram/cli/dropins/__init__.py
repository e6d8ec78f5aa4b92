"""Commands that take the place of mkcls and clustercat."""
