check_agents() { :; }
